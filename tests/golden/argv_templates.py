"""What people and models type at kubectl, as templates for `tests.golden.argv` (see there for the draws in braces)."""

from __future__ import annotations

GET = """
get {type}
get {type} {format}
get {type} {format} {format}
get {obj}
get {obj} {format}
get {obj} {obj}
get {slashed} {slashed} {slashed}
get {slashed} {name:pods}
get {type} {missing}
get {type}/{missing}
get {type} {name} {missing}
get {type},{type}
get {type},{type},{type} {format}
get {type} {type}
get all
get all {format}
get all -A
get {type} -A
get {type} -A {format}
get {type} -n {ns}
get {type} -n {ns} {format}
get -n {ns} {type}
-n {ns} get {type}
get pods -- -n {ns}
get {type} --all-namespaces=true --no-headers
get {obj} -A
get {type} -l {selector}
get {type} -l {label} {format}
get {type} --selector={selector}
get {type} -l {label} --show-labels
get {type} {missing} -l {label}
get {type} --field-selector={fields}
get {type} --field-selector {fields} {format}
get pods -A --field-selector=spec.nodeName={node}
get {type} --sort-by={sort}
get {type} --sort-by={sort} {format}
get {type} -A --sort-by {sort} -o wide
get {type} -o jsonpath={path}
get {obj} -o jsonpath={path}
get {obj} -o=jsonpath={path}
get {obj} -o jsonpath-as-json={path}
get {type} -o go-template={gotemplate}
get {obj} -o go-template={gotemplate}
get {obj} --template={gotemplate}
get {obj} -o go-template --template {gotemplate}
get {type} -o custom-columns={columns}
get {obj} -o custom-columns={columns} --no-headers
get {type} -o custom-columns-file=missing.txt
get {type} -o jsonpath-file=missing.txt
get {obj} -o go-template-file=missing.txt
get {type} --no-headers
get {type} --show-kind
get {type} --show-labels -o wide
get {type} -L app
get {type} -L app,tier --show-kind
get {type} --chunk-size={number}
get {type} --limit=1
get {type} --output-watch-events
get {type} --ignore-not-found
get {type} {missing} --ignore-not-found
get {type} --server-print=false
get {obj} --subresource=status
get {obj} --subresource=scale
get {workload} --subresource=scale -o yaml
get {workload} --subresource={missing}
get {wrong}
get {wrong} {missing}
get {wrong}/{missing} -o yaml
get {type}/{name}/{name}
get {type} {name} {slashed}
get /{name}
get {type}/
get
get -h -o yaml
get -f {file:own}
get -f {file:new}
get -f {file:wrong}
get -f {file} -o name
get -f missing.yaml
get -f ./{file:own}
get -f {stdin:own}
get {type} -f {file:own}
get -k .
get --raw /api/v1/namespaces/{own}/pods/{missing}
get --raw {missing}
get --raw /healthz
get --raw /version
get --raw /api/v1/namespaces/{own}/configmaps/kube-root-ca.crt
get {type} --raw /api
get {type} --foo
get {type} -x
get {type} -o wide --as={user}
get {type} --as {user} --as-group dev-team
get {type} --as-group=dev-team
get {type} {verbosity}
get {type} --context=nope
get {type} --cluster nope
get {type} --user=nope
get {type} --kubeconfig=missing.conf
get {type} --request-timeout={duration}
get pod -o yml
get pods -o json -o yaml
get pods --namespace
get pods -nn {ns}
get po,svc -o wide -n {ns}
get po {pod} -o yaml --show-managed-fields=false
get po {pod} -o jsonpath={path}
get pods -owide
get pods --watch=maybe
get events --sort-by=.lastTimestamp
get events --sort-by=.metadata.creationTimestamp -o wide
get events --field-selector involvedObject.name={pod}
get ev -o custom-columns=R:.reason,O:.involvedObject.name --no-headers
get nodes -o wide
get no {node} -o yaml
get nodes -L kubernetes.io/hostname
get nodes --show-labels
get ns {ns}
get ns -o name
get cs
get crd
get apiservices.nope
get pods.metrics.k8s.io
get componentstatuses {missing}
"""

DESCRIBE = """
describe {type}
describe {obj}
describe {slashed} {slashed}
describe {type} {missing}
describe {type}/{missing} {slashed}
describe {wrong}
describe {wrong}/{missing}
describe {type} -l {selector}
describe {type} -l {label}
describe {type} -A
describe {type} -n {ns}
describe {obj} --show-events=false
describe {type} w
describe po {pod}
describe pods {pod} -n {ns}
describe node {node}
describe nodes
describe no/{node} --show-events=false
describe ns {own}
describe {workload}
describe {workload} --show-events=false
describe -f {file:own}
describe -f {file:wrong}
describe
describe {type} --all
describe {type} -o yaml
describe {type},{type}
describe all
describe {obj} --chunk-size={number}
describe svc {name:services}
describe cm {name:configmaps}
describe sa default
describe secret {name:secrets}
describe hpa {name:horizontalpodautoscalers}
describe pvc {name:persistentvolumeclaims}
describe pv {name:persistentvolumes}
describe quota,limits
describe ing,netpol
describe role,rolebinding
describe endpointslice
"""

LOGS = """
logs {pod}
logs pod/{pod}
logs {pod} -c {container}
logs {pod} {container}
logs {pod} -c nope
logs {pod} --all-containers
logs {pod} --all-containers=true --prefix
logs {pod} --tail={number}
logs {pod} --since={duration}
logs {pod} --since-time=2026-01-01T00:00:00Z
logs {pod} --since-time=yesterday
logs {pod} -p
logs {pod} -p -c {container}
logs {pod} --previous --tail=1
logs {pod} --timestamps
logs {pod} --limit-bytes={number}
logs {workload}
logs {workload} --tail=1
logs {workload} -c {template_container} --pod-running-timeout=1s
logs {workload} --all-pods --tail=1
logs {type} {missing}
logs {type}/{missing}
logs -l {label}
logs -l {selector} --tail 1
logs -l {label} --all-containers --prefix
logs -l {label} {pod}
logs {missing}
logs
logs {pod} -n {ns}
logs svc/{name:services} --pod-running-timeout=1s
logs node/{node}
logs cm/{name:configmaps}
logs {pod} --foo
logs {pod} {container} extra
logs {pod} --max-log-requests=0 --tail=1
"""

ROLLOUT = """
rollout history {workload}
rollout history {workload} --revision={number}
rollout history {workload} --revision=1 -o yaml
rollout history {type} {missing}
rollout history {obj}
rollout history
rollout history deploy
rollout status {workload} --timeout=1500ms
rollout status {workload} --watch=false
rollout status {workload} --watch=false --revision={number}
rollout status {obj} --timeout=1500ms
rollout status {type}/{missing}
rollout status
rollout undo {workload}
rollout undo {workload} --to-revision={number}
rollout undo {workload} --dry-run=client
rollout undo {workload} --dry-run=server
rollout undo {obj}
rollout restart {workload}
rollout restart {workload} --dry-run=client -o yaml
rollout restart {obj}
rollout restart {type}
rollout restart deploy -l {selector}
rollout pause {workload}
rollout resume {workload}
rollout pause {obj}
rollout resume {obj} --dry-run=client
rollout
rollout {missing}
rollout restrat {workload}
rollout status deploy {name:deployments} extra --timeout=1500ms
"""

WRITES = """
delete {obj} --wait=false
delete {obj} --dry-run=client
delete {obj} --dry-run=server
delete {obj} --dry-run=server -o name
delete {slashed} {slashed} --wait=false
delete {type} {missing}
delete {type} {missing} --ignore-not-found
delete {type}
delete {type} --all --wait=false
delete {type} --all --dry-run=client
delete {type} -l {label} --wait=false
delete {type} -l {selector} --dry-run=client
delete {type} --all -l {label}
delete {type} {name} -l {label}
delete po {pod} --force --wait=false
delete po {pod} --grace-period=0 --wait=false
delete po {pod} --grace-period={number} --wait=false
delete po {pod} --now --wait=false
delete po {pod} --now --grace-period=5
delete po {pod} --timeout=1500ms
delete {workload} --cascade=orphan --wait=false
delete {workload} --cascade=foreground --dry-run=server
delete {workload} --cascade={missing}
delete {workload} --cascade=false --wait=false
delete -f {file:own} --wait=false
delete -f {file:new}
delete -f {file:wrong}
delete -f {file:own} --dry-run=client
delete
delete {wrong} {missing}
delete all --all --dry-run=client
delete {obj} --output=yaml
delete {obj} -o yaml --dry-run=client
delete ns {ns} --dry-run=server
delete node {node} --dry-run=client
delete {obj} -n {ns} --wait=false
delete --raw /api/v1/namespaces/{own}/configmaps/{missing}
delete {obj} -A
apply -f {file:own}
apply -f {file:changed}
apply -f {file:changed} --dry-run=client
apply -f {file:changed} --dry-run=server
apply -f {file:new}
apply -f {file:new} -o name
apply -f {file:new} --dry-run=client -o yaml
apply -f {file:new} --dry-run=server
apply -f {file:wrong}
apply -f {file:wrong} --validate=false
apply -f {file:wrong} --validate=warn
apply -f {file:wrong} --dry-run=client
apply -f {stdin:new}
apply -f {stdin:wrong}
apply -f missing.yaml
apply -f {file:new} -f {file:own}
apply
apply {file}
apply -k .
apply -f {file:own} --force --dry-run=server
apply -f {file:own} --prune
apply -f {file:own} --prune -l {label} --dry-run=client
apply -f {file:changed} -n {ns}
apply -f {file} --validate={missing}
apply view-last-applied {obj}
apply view-last-applied -f {file:own} -o json
apply view-last-applied {workload} -o {missing}
apply set-last-applied -f {file:own} --dry-run=client
apply set-last-applied -f {file:changed}
create -f {file:new}
create -f {file:own}
create -f {file:wrong}
create -f {file:wrong} --validate=warn
create -f {file:new} --dry-run=client -o yaml
create -f {file:new} --dry-run=server -o name
create -f {stdin:new} --save-config
create -f {file:new} --edit=maybe
create
create {missing}
create {file}
replace -f {file:own}
replace -f {file:changed}
replace -f {file:changed} --dry-run=client
replace -f {file:new}
replace -f {file:wrong}
replace
replace -f {file:own} --force --dry-run=server
diff -f {file:own}
diff -f {file:changed}
diff -f {file:new}
diff -f {file:wrong}
diff
patch {obj} -p {merge}
patch {obj} --type=merge -p {merge}
patch {obj} --type merge --patch {merge}
patch {workload} -p {merge}
patch {workload} --type=merge -p {merge} --dry-run=server
patch {workload} -p {merge} --dry-run=client
patch {workload} -p {merge} -o yaml --dry-run=client
patch {obj} --type=json -p {jsonpatch}
patch {workload} --type=json -p {jsonpatch}
patch {workload} --type=json --patch-file=missing.json
patch {obj} --type={missing} -p {merge}
patch {obj}
patch {obj} -p {merge} --subresource=status
patch -f {file:own} -p {merge}
patch {type} -p {merge}
patch {wrong} {missing} -p {merge}
patch node {node} -p {merge} --dry-run=server
edit {obj} --output-patch=maybe
edit
edit {wrong}/{missing}
label {obj} {pair}
label {obj} {pair} {pair}
label {obj} {pair} --overwrite
label {obj} {pair} --dry-run=client
label {obj} {pair} --dry-run=server -o yaml
label {obj} --list
label {type} --all {pair}
label {type} -l {label} {pair}
label {type} {pair}
label {obj}
label
label -f {file:own} {pair}
label {obj} {pair} --resource-version=1
label {type} {missing} {pair}
annotate {obj} {pair}
annotate {obj} {pair} --overwrite
annotate {obj} {pair} {pair} --dry-run=client
annotate {obj} --list
annotate {type} --all {pair}
annotate {obj} x=1 --resource-version=1
annotate {type} {missing} {pair}
taint node {node} {taint}
taint nodes {node} {taint} {taint}
taint nodes --all {taint} --dry-run=client
taint node {missing} {taint}
taint node {node} {taint} --overwrite
taint {type} {name} {taint}
taint node
scale {workload} --replicas={number}
scale {workload} --replicas=2 --current-replicas={number}
scale {workload} --replicas={number} --dry-run=server
scale {workload} --replicas=2 --dry-run=client -o yaml
scale {obj} --replicas=2
scale {workload} {workload} --replicas=1
scale {workload}
scale {workload} 3
scale --replicas=3 {type} {missing}
scale {type} --all --replicas=2
scale -f {file:own} --replicas=2
scale {workload} --replicas=5 --timeout=1500ms
autoscale {workload} --max=5
autoscale {workload} --min=2 --max={number} --cpu=80%
autoscale {workload} --max=5 --cpu-percent=50
autoscale {workload} --max=5 --memory=100Mi --dry-run=client -o yaml
autoscale {workload} --max=5 --name={missing}
autoscale {workload}
autoscale {obj} --max=3
autoscale {workload} --min=5 --max=2
expose {workload} --port=80
expose {workload} --port=80 --target-port=8080 --name=fresh
expose {workload} --port={number} --dry-run=client -o yaml
expose {workload}
expose {obj} --port=80
expose {pod} --port=80
expose po {pod} --port=80 --type=NodePort
expose po {pod} --port=80 --name=x --type={missing}
expose svc {name:services} --port=81 --name=second
run fresh --image={image}
run fresh --image=nginx --dry-run=client -o yaml
run fresh --image=nginx --dry-run=server -o name
run fresh --image=nginx --port={port} --expose --dry-run=client -o yaml
run fresh --image=nginx --env={pair} --labels={pair} --dry-run=client -o yaml
run fresh --image=nginx --restart={missing}
run fresh --image=busybox --dry-run=client -o yaml -- sleep 5
run fresh --image=busybox --command --dry-run=client -o json -- sh -c 'echo hi'
run fresh --image=nginx --overrides={merge} --dry-run=client -o yaml
run fresh
run --image=nginx
run {pod} --image=nginx
run fresh --image=nginx --replicas=2
run fresh --image=nginx --rm
run fresh --image=nginx --generator=run-pod/v1
cordon {node}
cordon {node} {missing}
uncordon {node}
cordon -l {selector}
cordon --all --dry-run=client
cordon
uncordon nodes/{node} --dry-run=server
drain {node} --dry-run=client
drain {node} --ignore-daemonsets --dry-run=client
drain {node} --ignore-daemonsets --delete-emptydir-data --force --dry-run=server
drain {missing}
drain
drain {node} --pod-selector={selector} --dry-run=client
drain {node} --grace-period={number} --dry-run=client
"""

CREATE = """
create configmap fresh --from-literal={pair}
create configmap fresh --from-literal=a=b --from-literal=a=c
create cm fresh --from-file={file:new} --dry-run=client -o yaml
create cm fresh --from-file=key={file:new} --dry-run=client -o yaml
create cm fresh --from-file=missing.txt
create cm fresh --from-env-file={file:wrong} --dry-run=client -o yaml
create cm {name:configmaps} --from-literal=a=b
create cm Bad_Name --from-literal=a=b
create cm fresh --append-hash --from-literal=a=b --dry-run=client -o name
create configmap
create secret generic fresh --from-literal={pair}
create secret generic fresh --from-literal=a=b --dry-run=client -o yaml
create secret generic fresh --type=x/y --from-literal=a=b -o yaml --dry-run=client
create secret docker-registry fresh --docker-username=u --docker-password=p --docker-email=e
create secret docker-registry fresh --docker-server=r.io --docker-username=u --docker-password=p --dry-run=client -o yaml
create secret docker-registry fresh
create secret tls fresh --cert=missing.crt --key=missing.key
create secret tls fresh
create secret fresh
create secret
create namespace fresh
create ns {ns}
create ns fresh --dry-run=client -o yaml
create ns a b
create deployment fresh --image={image}
create deployment fresh --image=nginx --replicas={number} --dry-run=client -o yaml
create deploy fresh --image=nginx --image=redis --port=80 --dry-run=client -o yaml
create deploy {name:deployments} --image=nginx
create deploy fresh
create deploy fresh --image=busybox --dry-run=client -o yaml -- sleep 3600
create deploy fresh --image nginx -n {ns}
create job fresh --image={image}
create job fresh --image=busybox --dry-run=client -o yaml -- date
create job fresh --from=cronjob/{name:cronjobs}
create job fresh --from=cj/{name:cronjobs} --dry-run=client -o yaml
create job fresh --from={slashed}
create job fresh --from=cronjob/{name:cronjobs} --image=x
create job fresh
create cronjob fresh --image=busybox --schedule='*/1 * * * *'
create cj fresh --image=busybox --schedule='bad'
create cj fresh --image=busybox --schedule='0 0 * * *' --restart=Never --dry-run=client -o yaml -- date
create cj fresh --image=busybox
create service clusterip fresh --tcp=80:8080
create service clusterip fresh --tcp={number}
create svc nodeport fresh --tcp=80 --node-port={number}
create svc nodeport fresh --tcp=5678:8080 --dry-run=client -o yaml
create svc loadbalancer fresh --tcp=80:8080
create svc externalname fresh --external-name=example.com
create svc externalname fresh
create svc clusterip fresh --clusterip=None
create svc clusterip fresh
create svc {missing} fresh
create service
create ingress fresh --rule=foo.com/bar=svc1:8080
create ingress fresh --rule=foo.com/*=svc:80,tls=secret --class=nginx --dry-run=client -o yaml
create ing fresh --default-backend=svc:80 --annotation={pair} --dry-run=client -o yaml
create ing fresh --rule={pair}
create ing fresh
create role fresh --verb={verb} --resource={resource}
create role fresh --verb=get,list --resource=pods,deployments.apps --dry-run=client -o yaml
create role fresh --verb=get --resource=pods --resource-name={pod}
create role fresh --verb=get
create role fresh --resource=pods
create clusterrole fresh --verb={verb} --resource={resource}
create clusterrole fresh --verb=get --non-resource-url=/healthz --dry-run=client -o yaml
create clusterrole fresh --aggregation-rule={pair}
create rolebinding fresh --role=view --user={user}
create rolebinding fresh --clusterrole=view --serviceaccount={own}:default --dry-run=client -o yaml
create rolebinding fresh --clusterrole=view --role=x --user=u
create rolebinding fresh --clusterrole=view --serviceaccount=default
create clusterrolebinding fresh --clusterrole=view --group=dev
create clusterrolebinding fresh --user=u
create serviceaccount fresh
create sa default
create sa fresh --dry-run=client -o json
create quota fresh --hard=cpu=1,pods=2
create quota fresh --hard={pair}
create quota fresh --hard=pods=1 --scopes=BestEffort --dry-run=client -o yaml
create quota fresh --hard=pods=1 --scopes={missing}
create pdb fresh --selector={selector} --min-available=1
create pdb fresh --selector=app=web --max-unavailable=50% --dry-run=client -o yaml
create pdb fresh --selector=app=web --min-available=1 --max-unavailable=1
create pdb fresh --min-available=1
create priorityclass fresh --value={number}
create pc fresh --value=10 --global-default=true --description=d --dry-run=client -o yaml
create pc fresh --value=1 --preemption-policy={missing}
create token default --duration={duration}
create token {missing}
create token
create token default --bound-object-kind=Pod
create role
create {missing} fresh
create deployment fresh --image=nginx --dry-run
create deployment fresh --image=nginx --dry-run=true
create deployment fresh --image=nginx --dry-run={missing}
create deployment fresh --image=nginx -o {missing} --dry-run=client
"""

SET = """
set image {workload} {template_container}={image}
set image {workload} *=nginx:1.29
set image {workload} nope=nginx
set image {workload} {template_container}=nginx:9 --dry-run=client -o yaml
set image {workload} {template_container}=nginx:9 --dry-run=server
set image deploy --all *=nginx:9
set image deploy -l {selector} *=nginx:9
set image {workload}
set image {obj} x=y
set image {workload} nginx:1.29
set image -f {file:own} *=nginx:9 --local -o yaml
set env {workload} {pair}
set env {workload} A=b C=d --dry-run=client -o yaml
set env {workload} --list
set env {workload} --list --resolve
set env {workload} --from=configmap/{name:configmaps}
set env {workload} --from=secret/{missing}
set env {workload} --from=cm/{name:configmaps} --prefix=P_
set env {workload} A- B-
set env {workload} -c {template_container} A=b
set env {workload} -c nope A=b
set env {obj} A=b
set env {workload}
set resources {workload} --limits=cpu=200m,memory=512Mi
set resources {workload} --requests=cpu=100m --dry-run=client -o yaml
set resources {workload} --limits={pair}
set resources {workload} -c={template_container} --limits=cpu=1
set resources {workload}
set resources {obj} --limits=cpu=1
set selector svc/{name:services} {pair}
set selector svc {name:services} app=x --dry-run=client -o yaml
set selector {obj} a=b
set selector svc/{name:services}
set serviceaccount {workload} default
set sa {workload} fresh --dry-run=client -o yaml
set sa {workload}
set subject rolebinding {name:rolebindings} --user={user}
set subject rolebinding {name:rolebindings} --group=g --serviceaccount=a:b --dry-run=client -o yaml
set subject {obj} --user=x
set subject rolebinding {name:rolebindings}
set
set {missing}
set imgae {workload} x=y
"""

OTHER = """
events
events -A
events -n {ns}
events --for {slashed}
events --for pod/{pod}
events --for {missing}
events --for {wrong}/{missing}
events --types=Warning
events --types={missing}
events --types=Normal,Warning -o name
events -o json --types=Warning
events --no-headers
events -o wide
events -o {missing}
events {missing}
top pods
top pod {pod}
top pods --containers
top pods -A --sort-by=cpu
top pods --sort-by={missing}
top pods --no-headers --sort-by=memory
top pods -l {label}
top pods -l {selector}
top pod {missing}
top pods --sum
top pods --field-selector={fields}
top nodes
top node {node}
top nodes --sort-by=memory --no-headers
top nodes --show-capacity
top node {missing}
top
top {missing}
exec {pod} -- hostname
exec {pod} -c {container} -- hostname
exec {pod} -c nope -- hostname
exec {pod} -- cat /etc/nope
exec {pod} -- false
exec {pod} -- nosuchcommand
exec {pod} hostname
exec {pod}
exec
exec {missing} -- hostname
exec {workload} --pod-running-timeout=1s -- hostname
exec svc/{name:services} --pod-running-timeout=1s -- hostname
exec -n {ns} {pod} -- hostname
exec {obj} --pod-running-timeout=1s -- echo a b
exec -it {pod} -- echo hi
exec -t {pod} -- echo hi
cp {pod}:/etc/nope out.txt
cp {file:new} {pod}:/tmp/x
cp a b
cp missing.txt {pod}:/tmp
cp {pod}:/a {pod}:/b
cp a
port-forward {pod}
port-forward {pod} nope
port-forward svc/{name:services} 8080:nope --pod-running-timeout=1s
port-forward {missing} 80
port-forward {workload} --pod-running-timeout=1s
attach {missing}
attach {pod} -c nope
attach
wait {obj} --for={condition} --timeout=1500ms
wait {slashed} --for={condition} --timeout=0
wait {workload} --for=condition=Available --timeout=1500ms
wait pod/{pod} --for=condition=Ready --timeout=1500ms
wait pod -l {label} --for={condition} --timeout=1500ms
wait {type} --all --for={condition} --timeout=1500ms
wait {type} {missing} --for=delete --timeout=1500ms
wait {type} {missing} --for=condition=Ready --timeout=1500ms
wait {type} --for=condition=Ready --timeout=1500ms
wait {obj} --timeout=1500ms
wait {obj} --for=jsonpath={path} --timeout=1500ms
wait --for=delete {obj} --timeout=1500ms
wait
explain {type} --max-depth=1
explain {wrong}
explain pods.spec.nope
explain
auth can-i {verb} {resource}
auth can-i {verb} {resource} --as={user}
auth can-i {verb} {resource} -n {ns} -q
auth can-i {verb} {slashed}
auth can-i get pods --subresource=log --as={user}
auth can-i {verb} /version --as={user}
auth can-i --list --as={user}
auth can-i --list --no-headers
auth can-i get
auth can-i
auth whoami
auth whoami -o yaml
auth whoami --as={user}
auth reconcile -f {file:new}
auth reconcile -f {file:new} --dry-run=client -o yaml
auth reconcile -f {file:own}
auth reconcile
auth {missing}
api-resources -o name
api-resources --api-group=apps
api-resources --api-group=nope
api-resources --namespaced=false --no-headers
api-resources --verbs=list,get -o wide
api-resources --verbs=fly
api-resources --sort-by=name
api-resources --sort-by={missing}
api-resources --categories=all
api-resources -o {missing}
api-resources extra
api-versions
api-versions extra
version --client -o json
version -o yaml
version -o {missing}
version extra
cluster-info
cluster-info {missing}
cluster-info dump --namespaces={own} -o {missing}
certificate approve {missing}
certificate deny
certificate {missing}
debug {pod} --image=busybox --container=dbg
debug {pod} --image=busybox --target={container} -c dbg --profile=general
debug {pod} --image=busybox --target=nope -c dbg
debug {pod}
debug {pod} --image={image} -c dbg --profile={missing}
debug {pod} --copy-to=copy --set-image=*=busybox
debug {pod} --copy-to=copy --image=busybox -c dbg --share-processes
debug {pod} --copy-to=copy --container={container} -- sh
debug {missing} --image=busybox
debug node/{missing} --image=busybox
debug {workload} --image=busybox
config current-context
config get-contexts
config get-contexts -o name
config get-contexts {missing}
config get-contexts -o {missing}
config get-clusters
config get-users
config view
config view --minify
config view -o json
config view -o jsonpath={path}
config view --merge=false
config use-context {missing}
config use-context
config set-context --current --namespace={ns}
config set-context fresh --cluster=l2 --user=admin
config set-context
config set-context a b
config set-cluster fresh --server=https://1.2.3.4
config set-cluster fresh --certificate-authority=missing --embed-certs
config set-credentials fresh --token=t --username=u
config set-credentials fresh --token=t
config set current-context {missing}
config set contexts.admin@l2.namespace {ns}
config set {missing} x
config set clusters.l2.insecure-skip-tls-verify {pair}
config unset current-context
config unset contexts.admin@l2.namespace
config unset users.nope.token
config unset {missing}
config rename-context admin@l2 other
config rename-context {missing} other
config rename-context admin@l2 admin@l2
config delete-context admin@l2
config delete-context {missing}
config delete-cluster l2
config delete-cluster {missing}
config delete-user {missing}
config delete-user
config {missing}
completion {missing}
completion
completion a b
plugin list
kustomize .
kustomize missing
options extra
alpha
{missing}
gets pods
get-pods
desribe pods
delet pod {pod}
appply -f {file:new}
logz {pod}
restart {workload}
list pods
ls
start {pod}
ssh {pod}
scale-up {workload}
kubectl get pods
--help=maybe
--foo get pods
-n {ns}
-n
--version
version --short
help {missing}
proxy --port=abc
proxy --www=missing --port=70000
"""

TEMPLATES: tuple[str, ...] = tuple(
    line
    for block in (GET, DESCRIBE, LOGS, ROLLOUT, WRITES, CREATE, SET, OTHER)
    for line in block.strip().splitlines()
)
"""Every template. None of them waits for more than a second, or for the cluster to do something."""
