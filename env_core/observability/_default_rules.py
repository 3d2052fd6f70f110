"""The alerts that watch a cluster unless it brings its own rules.

Source: https://github.com/kubernetes-monitoring/kubernetes-mixin (names, expressions and times of the alerts, shortened)
and https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/ (InstanceDown).
"""

from typing import Final

DEFAULT_RULES: Final = """\
groups:
- name: kubernetes-apps
  rules:
  - alert: KubePodCrashLooping
    expr: max_over_time(kube_pod_container_status_waiting_reason{reason="CrashLoopBackOff"}[5m]) >= 1
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Pod is crash looping.
      description: 'Pod {{ $labels.namespace }}/{{ $labels.pod }} ({{ $labels.container }}) is in waiting state (reason: "CrashLoopBackOff").'
  - alert: KubePodNotReady
    expr: sum by (namespace, pod) (kube_pod_status_phase{phase=~"Pending|Unknown"}) > 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Pod has been in a non-ready state for more than 15 minutes.
      description: Pod {{ $labels.namespace }}/{{ $labels.pod }} has been in a non-ready state for longer than 15 minutes.
  - alert: KubeContainerWaiting
    expr: kube_pod_container_status_waiting_reason{reason!="CrashLoopBackOff"} > 0
    for: 1h
    labels: {severity: warning}
    annotations:
      summary: Pod container waiting longer than 1 hour
      description: 'pod/{{ $labels.pod }} in namespace {{ $labels.namespace }} on container {{ $labels.container }} has been in waiting state for longer than 1 hour. (reason: "{{ $labels.reason }}").'
  - alert: KubeDeploymentReplicasMismatch
    expr: (kube_deployment_spec_replicas > kube_deployment_status_replicas_available) and (changes(kube_deployment_status_replicas_updated[10m]) == 0)
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Deployment has not matched the expected number of replicas.
      description: Deployment {{ $labels.namespace }}/{{ $labels.deployment }} has not matched the expected number of replicas for longer than 15 minutes.
  - alert: KubeDeploymentRolloutStuck
    expr: kube_deployment_status_condition{condition="Progressing", status="false"} != 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Deployment rollout is not progressing.
      description: Rollout of deployment {{ $labels.namespace }}/{{ $labels.deployment }} is not progressing for longer than 15 minutes.
  - alert: KubeStatefulSetReplicasMismatch
    expr: (kube_statefulset_status_replicas_ready != kube_statefulset_replicas) and (changes(kube_statefulset_status_replicas_updated[10m]) == 0)
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: StatefulSet has not matched the expected number of replicas.
      description: StatefulSet {{ $labels.namespace }}/{{ $labels.statefulset }} has not matched the expected number of replicas for longer than 15 minutes.
  - alert: KubeDaemonSetMisScheduled
    expr: kube_daemonset_status_number_misscheduled > 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: DaemonSet pods are misscheduled.
      description: '{{ $value }} Pods of DaemonSet {{ $labels.namespace }}/{{ $labels.daemonset }} are running where they are not supposed to run.'
  - alert: KubeJobFailed
    expr: kube_job_failed{condition="true"} > 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Job failed to complete.
      description: Job {{ $labels.namespace }}/{{ $labels.job_name }} failed to complete. Removing failed job after investigation should clear this alert.
  - alert: KubeHpaMaxedOut
    expr: kube_horizontalpodautoscaler_status_current_replicas == kube_horizontalpodautoscaler_spec_max_replicas
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: HPA is running at max replicas
      description: HPA {{ $labels.namespace }}/{{ $labels.horizontalpodautoscaler }} has been running at max replicas for longer than 15 minutes.
- name: kubernetes-resources
  rules:
  - alert: KubeQuotaFullyUsed
    expr: kube_resourcequota{type="used"} / ignoring (type) (kube_resourcequota{type="hard"} > 0) == 1
    for: 15m
    labels: {severity: info}
    annotations:
      summary: Namespace quota is fully used.
      description: Namespace {{ $labels.namespace }} is using {{ $value | humanizePercentage }} of its {{ $labels.resource }} quota.
  - alert: CPUThrottlingHigh
    expr: sum by (container, pod, namespace) (increase(container_cpu_cfs_throttled_periods_total[5m])) / sum by (container, pod, namespace) (increase(container_cpu_cfs_periods_total[5m])) > ( 25 / 100 )
    for: 15m
    labels: {severity: info}
    annotations:
      summary: Processes experience elevated CPU throttling.
      description: '{{ $value | humanizePercentage }} throttling of CPU in namespace {{ $labels.namespace }} for container {{ $labels.container }} in pod {{ $labels.pod }}.'
- name: kubernetes-system
  rules:
  - alert: KubeNodeNotReady
    expr: kube_node_status_condition{condition="Ready", status="true"} == 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Node is not ready.
      description: '{{ $labels.node }} has been unready for more than 15 minutes.'
  - alert: KubeNodeUnreachable
    expr: kube_node_spec_taint{key="node.kubernetes.io/unreachable", effect="NoSchedule"} == 1
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Node is unreachable.
      description: '{{ $labels.node }} is unreachable and some workloads may be rescheduled.'
- name: availability
  rules:
  - alert: InstanceDown
    expr: up == 0
    for: 5m
    labels: {severity: critical}
    annotations:
      summary: Instance {{ $labels.instance }} down
      description: '{{ $labels.instance }} of job {{ $labels.job }} has been down for more than 5 minutes.'
"""
