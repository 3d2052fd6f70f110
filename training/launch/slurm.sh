#!/usr/bin/env bash
#SBATCH --job-name=kubedrill-grpo
#SBATCH --nodes=3
#SBATCH --gres=gpu:8
#SBATCH --ntasks-per-node=1
#SBATCH --time=24:00:00
# GRPO on several nodes: the last one serves vLLM, the first one runs the server replicas on its CPUs, all but the last train.
# Not run: no such cluster was at hand.
#   sbatch training/launch/slurm.sh training/configs/qwen3-8b-multinode.yaml --out /data/run1 [further arguments of training.grpo]
set -euo pipefail
plan=${1:?name a plan}
shift
cd "${SLURM_SUBMIT_DIR:-.}"
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
vllm=${nodes[-1]}
trainers=("${nodes[@]:0:${#nodes[@]}-1}")
list=$(IFS=,; echo "${trainers[*]}")
export PLAN="$plan" HEAD_NODE="$head" VLLM_NODE="$vllm"
# One word each, so that they come apart again on the other side as they were.
ARGUMENTS=$(printf '%q ' "$@")
export ARGUMENTS

srun --overlap -N1 -n1 -w "$vllm" env VLLM_SERVER_DEV_MODE=1 python -m training.launcher "$plan" vllm --exec &
replicas=$(python -c 'import sys; from pathlib import Path; from training.plan import load; print(load(Path(sys.argv[1])).environment.replicas)' "$plan")
for ((index = 0; index < replicas; index++)); do
  srun --overlap -N1 -n1 -w "$head" python -m training.launcher "$plan" server --index "$index" --exec &
done

# The rank is known inside the task only.
srun --overlap -N"${#trainers[@]}" -n"${#trainers[@]}" -w "$list" bash -c \
  'eval "set -- $ARGUMENTS"; exec python -m training.launcher "$PLAN" train --head "$HEAD_NODE" --vllm "$VLLM_NODE" --rank "$SLURM_NODEID" --exec -- "$@"'
