"""The fields of the API server's internal types, in their order: what it prints of a pod spec in messages.

One type a line (continued lines are indented): its name, then its fields as Go name, JSON name where it is not
the Go name with a small first letter, and type. Types: s string (when none is given), b boolean, i integer,
q quantity, v integer or text, x as clients see it; * pointer, [] list, {} map; +T the fields of T inlined;
@metadata object metadata inlined. Source: k8s.io/kubernetes pkg/apis/core/types.go of 1.37 by way of
tests/golden/l0/types.json.gz, whose order the recorded messages confirm.
"""

FIELDS = """
PodTemplateSpec @metadata Spec:PodSpec
PodSpec Volumes:[]Volume InitContainers:[]Container Containers:[]Container
  EphemeralContainers:[]EphemeralContainer RestartPolicy TerminationGracePeriodSeconds:*i
  ActiveDeadlineSeconds:*i DNSPolicy=dnsPolicy NodeSelector:{}s ServiceAccountName
  DeprecatedServiceAccount=serviceAccount AutomountServiceAccountToken:*b NodeName HostNetwork:b
  HostPID:b HostIPC:b ShareProcessNamespace:*b SecurityContext:*PodSecurityContext
  ImagePullSecrets:[]LocalObjectReference Hostname Subdomain Affinity:*Affinity SchedulerName
  Tolerations:[]Toleration HostAliases:[]HostAlias PriorityClassName Priority:*i
  DNSConfig=dnsConfig:*PodDNSConfig ReadinessGates:[]PodReadinessGate RuntimeClassName:*s
  EnableServiceLinks:*b PreemptionPolicy:*s Overhead:{}q
  TopologySpreadConstraints:[]TopologySpreadConstraint SetHostnameAsFQDN:*b OS=os:*PodOS HostUsers:*b
  SchedulingGates:[]PodSchedulingGate ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements
  HostnameOverride:*s SchedulingGroup:*PodSchedulingGroup EvictionResponders:[]EvictionResponder
Volume Name +VolumeSource
VolumeSource HostPath:*HostPathVolumeSource EmptyDir:*EmptyDirVolumeSource
  GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource
  AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource
  GitRepo:*GitRepoVolumeSource Secret:*SecretVolumeSource NFS=nfs:*NFSVolumeSource
  ISCSI=iscsi:*ISCSIVolumeSource Glusterfs:*GlusterfsVolumeSource
  PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD=rbd:*RBDVolumeSource
  FlexVolume:*FlexVolumeSource Cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource
  Flocker:*FlockerVolumeSource DownwardAPI:*DownwardAPIVolumeSource FC=fc:*FCVolumeSource
  AzureFile:*AzureFileVolumeSource ConfigMap:*ConfigMapVolumeSource
  VsphereVolume:*VsphereVirtualDiskVolumeSource Quobyte:*QuobyteVolumeSource
  AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource
  Projected:*ProjectedVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOVolumeSource
  StorageOS=storageos:*StorageOSVolumeSource CSI=csi:*CSIVolumeSource Ephemeral:*EphemeralVolumeSource
  Image:*ImageVolumeSource
HostPathVolumeSource Path Type:*s
EmptyDirVolumeSource Medium SizeLimit:*q Mode:*i
GCEPersistentDiskVolumeSource PDName=pdName FSType=fsType Partition:i ReadOnly:b
AWSElasticBlockStoreVolumeSource VolumeID FSType=fsType Partition:i ReadOnly:b
GitRepoVolumeSource Repository Revision Directory
SecretVolumeSource SecretName Items:[]KeyToPath DefaultMode:*i Optional:*b DefaultUser:*i
KeyToPath Key Path Mode:*i User:*i
NFSVolumeSource Server Path ReadOnly:b
ISCSIVolumeSource TargetPortal IQN=iqn Lun:i ISCSIInterface=iscsiInterface FSType=fsType ReadOnly:b
  Portals:[]s DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b
  SecretRef:*LocalObjectReference InitiatorName:*s
LocalObjectReference Name
GlusterfsVolumeSource EndpointsName=endpoints Path ReadOnly:b
PersistentVolumeClaimVolumeSource ClaimName ReadOnly:b
RBDVolumeSource CephMonitors=monitors:[]s RBDImage=image FSType=fsType RBDPool=pool RadosUser=user
  Keyring SecretRef:*LocalObjectReference ReadOnly:b
FlexVolumeSource Driver FSType=fsType SecretRef:*LocalObjectReference ReadOnly:b Options:{}s
CinderVolumeSource VolumeID FSType=fsType ReadOnly:b SecretRef:*LocalObjectReference
CephFSVolumeSource Monitors:[]s Path User SecretFile SecretRef:*LocalObjectReference ReadOnly:b
FlockerVolumeSource DatasetName DatasetUUID
DownwardAPIVolumeSource Items:[]DownwardAPIVolumeFile DefaultMode:*i DefaultUser:*i
DownwardAPIVolumeFile Path FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector Mode:*i
  User:*i
ObjectFieldSelector APIVersion=apiVersion FieldPath
ResourceFieldSelector ContainerName Resource Divisor:q
FCVolumeSource TargetWWNs:[]s Lun:*i FSType=fsType ReadOnly:b WWIDs=wwids:[]s
AzureFileVolumeSource SecretName ShareName ReadOnly:b
ConfigMapVolumeSource +LocalObjectReference Items:[]KeyToPath DefaultMode:*i Optional:*b DefaultUser:*i
VsphereVirtualDiskVolumeSource VolumePath FSType=fsType StoragePolicyName StoragePolicyID
QuobyteVolumeSource Registry Volume ReadOnly:b User Group Tenant
AzureDiskVolumeSource DiskName DataDiskURI=diskURI CachingMode:*s FSType=fsType:*s ReadOnly:*b Kind:*s
PhotonPersistentDiskVolumeSource PdID FSType=fsType
ProjectedVolumeSource Sources:[]VolumeProjection DefaultMode:*i DefaultUser:*i
VolumeProjection Secret:*SecretProjection DownwardAPI:*DownwardAPIProjection
  ConfigMap:*ConfigMapProjection ServiceAccountToken:*ServiceAccountTokenProjection
  ClusterTrustBundle:*ClusterTrustBundleProjection PodCertificate:*PodCertificateProjection
SecretProjection +LocalObjectReference Items:[]KeyToPath Optional:*b
DownwardAPIProjection Items:[]DownwardAPIVolumeFile
ConfigMapProjection +LocalObjectReference Items:[]KeyToPath Optional:*b
ServiceAccountTokenProjection Audience ExpirationSeconds:*i Path User:*i
ClusterTrustBundleProjection Name:*s SignerName:*s LabelSelector:*x Optional:*b Path User:*i
PodCertificateProjection SignerName KeyType MaxExpirationSeconds:*i CredentialBundlePath KeyPath
  CertificateChainPath UserAnnotations:{}s User:*i
PortworxVolumeSource VolumeID FSType=fsType ReadOnly:b
ScaleIOVolumeSource Gateway System SecretRef:*LocalObjectReference SSLEnabled=sslEnabled:b
  ProtectionDomain StoragePool StorageMode VolumeName FSType=fsType ReadOnly:b
StorageOSVolumeSource VolumeName VolumeNamespace FSType=fsType ReadOnly:b
  SecretRef:*LocalObjectReference
CSIVolumeSource Driver ReadOnly:*b FSType=fsType:*s VolumeAttributes:{}s
  NodePublishSecretRef:*LocalObjectReference
EphemeralVolumeSource VolumeClaimTemplate:*PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate @metadata Spec:PersistentVolumeClaimSpec
PersistentVolumeClaimSpec AccessModes:[]s Selector:*x Resources:VolumeResourceRequirements VolumeName
  StorageClassName:*s VolumeMode:*s DataSource:*TypedLocalObjectReference
  DataSourceRef:*TypedObjectReference VolumeAttributesClassName:*s
VolumeResourceRequirements Limits:{}q Requests:{}q
TypedLocalObjectReference APIGroup=apiGroup:*s Kind Name
TypedObjectReference APIGroup=apiGroup:*s Kind Name Namespace:*s
ImageVolumeSource Reference PullPolicy
Container Name Image Command:[]s Args:[]s WorkingDir Ports:[]ContainerPort EnvFrom:[]EnvFromSource
  Env:[]EnvVar Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:*s
  RestartPolicyRules:[]ContainerRestartRule VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice
  LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle
  TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext:*SecurityContext
  Stdin:b StdinOnce:b TTY=tty:b
ContainerPort Name HostPort:i ContainerPort:i Protocol HostIP
EnvFromSource Prefix ConfigMapRef:*ConfigMapEnvSource SecretRef:*SecretEnvSource
ConfigMapEnvSource +LocalObjectReference Optional:*b
SecretEnvSource +LocalObjectReference Optional:*b
EnvVar Name Value ValueFrom:*EnvVarSource
EnvVarSource FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector
  ConfigMapKeyRef:*ConfigMapKeySelector SecretKeyRef:*SecretKeySelector FileKeyRef:*FileKeySelector
ConfigMapKeySelector +LocalObjectReference Key Optional:*b
SecretKeySelector +LocalObjectReference Key Optional:*b
FileKeySelector VolumeName Path Key Optional:*b
ResourceRequirements Limits:{}q Requests:{}q Claims:[]ResourceClaim
ResourceClaim Name Request
ContainerResizePolicy ResourceName RestartPolicy
ContainerRestartRule Action ExitCodes:*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes Operator Values:[]i
VolumeMount Name ReadOnly:b RecursiveReadOnly:*s MountPath SubPath MountPropagation:*s SubPathExpr
  BindMountOptions:[]s
VolumeDevice Name DevicePath
Probe +ProbeHandler InitialDelaySeconds:i TimeoutSeconds:i PeriodSeconds:i SuccessThreshold:i
  FailureThreshold:i TerminationGracePeriodSeconds:*i
ProbeHandler Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction
  GRPC=grpc:*GRPCAction
ExecAction Command:[]s
HTTPGetAction Path Port:v Host Scheme HTTPHeaders=httpHeaders:[]HTTPHeader Protocol:*s
HTTPHeader Name Value
TCPSocketAction Port:v Host
GRPCAction Port:i Service:*s Mode:*s
Lifecycle PostStart:*LifecycleHandler PreStop:*LifecycleHandler StopSignal:*s
LifecycleHandler Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction
  Sleep:*SleepAction
SleepAction Seconds:i
SecurityContext Capabilities:*Capabilities Privileged:*b SELinuxOptions=seLinuxOptions:*SELinuxOptions
  WindowsOptions:*WindowsSecurityContextOptions RunAsUser:*i RunAsGroup:*i RunAsNonRoot:*b
  ReadOnlyRootFilesystem:*b AllowPrivilegeEscalation:*b ProcMount:*s SeccompProfile:*SeccompProfile
  AppArmorProfile:*AppArmorProfile
Capabilities Add:[]s Drop:[]s
SELinuxOptions User Role Type Level
WindowsSecurityContextOptions GMSACredentialSpecName=gmsaCredentialSpecName:*s
  GMSACredentialSpec=gmsaCredentialSpec:*s RunAsUserName:*s HostProcess:*b
SeccompProfile Type LocalhostProfile:*s
AppArmorProfile Type LocalhostProfile:*s
EphemeralContainer +EphemeralContainerCommon TargetContainerName
EphemeralContainerCommon Name Image Command:[]s Args:[]s WorkingDir Ports:[]ContainerPort
  EnvFrom:[]EnvFromSource Env:[]EnvVar Resources:ResourceRequirements
  ResizePolicy:[]ContainerResizePolicy RestartPolicy:*s RestartPolicyRules:[]ContainerRestartRule
  VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe
  StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath TerminationMessagePolicy
  ImagePullPolicy SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b
PodSecurityContext SELinuxOptions=seLinuxOptions:*SELinuxOptions
  WindowsOptions:*WindowsSecurityContextOptions RunAsUser:*i RunAsGroup:*i RunAsNonRoot:*b
  SupplementalGroups:[]i SupplementalGroupsPolicy:*s FSGroup=fsGroup:*i Sysctls:[]Sysctl
  FSGroupChangePolicy=fsGroupChangePolicy:*s SeccompProfile:*SeccompProfile
  AppArmorProfile:*AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy:*s
Sysctl Name Value
Affinity NodeAffinity:*NodeAffinity PodAffinity:*PodAffinity PodAntiAffinity:*PodAntiAffinity
NodeAffinity RequiredDuringSchedulingIgnoredDuringExecution:*NodeSelector
  PreferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm
NodeSelector NodeSelectorTerms:[]NodeSelectorTerm
NodeSelectorTerm MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement
NodeSelectorRequirement Key Operator Values:[]s
PreferredSchedulingTerm Weight:i Preference:NodeSelectorTerm
PodAffinity RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
  PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm
PodAffinityTerm LabelSelector:*x Namespaces:[]s TopologyKey NamespaceSelector:*x MatchLabelKeys:[]s
  MismatchLabelKeys:[]s
WeightedPodAffinityTerm Weight:i PodAffinityTerm:PodAffinityTerm
PodAntiAffinity RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
  PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm
Toleration Key Operator Value Effect TolerationSeconds:*i
HostAlias IP=ip Hostnames:[]s
PodDNSConfig Nameservers:[]s Searches:[]s Options:[]PodDNSConfigOption
PodDNSConfigOption Name Value:*s
PodReadinessGate ConditionType
TopologySpreadConstraint MaxSkew:i TopologyKey WhenUnsatisfiable LabelSelector:*x MinDomains:*i
  NodeAffinityPolicy:*s NodeTaintsPolicy:*s MatchLabelKeys:[]s
PodOS Name
PodSchedulingGate Name
PodResourceClaim Name ResourceClaimName:*s ResourceClaimTemplateName:*s
PodSchedulingGroup PodGroupName:*s
EvictionResponder Name Priority:*i
PersistentVolumeClaim @metadata Spec:PersistentVolumeClaimSpec Status:PersistentVolumeClaimStatus
PersistentVolumeClaimStatus Phase AccessModes:[]s Capacity:{}q
  Conditions:[]PersistentVolumeClaimCondition AllocatedResources:{}q AllocatedResourceStatuses:{}s
  CurrentVolumeAttributesClassName:*s ModifyVolumeStatus:*ModifyVolumeStatus
  HealthStatus:*VolumeHealthStatus
PersistentVolumeClaimCondition Type Status LastProbeTime:x LastTransitionTime:x Reason Message
ModifyVolumeStatus TargetVolumeAttributesClassName Status
VolumeHealthStatus HealthConditions:[]VolumeHealthCondition LastTransitionTime:x
VolumeHealthCondition Status Reason Message
StatefulSetUpdateStrategy Type RollingUpdate:*RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy Partition:i MaxUnavailable:*v
SuccessPolicy Rules:[]SuccessPolicyRule
SuccessPolicyRule SucceededIndexes:*s SucceededCount:*i
PodFailurePolicy Rules:[]PodFailurePolicyRule
PodFailurePolicyRule Action OnExitCodes:*PodFailurePolicyOnExitCodesRequirement
  OnPodConditions:[]PodFailurePolicyOnPodConditionsPattern
PodFailurePolicyOnExitCodesRequirement ContainerName:*s Operator Values:[]i
PodFailurePolicyOnPodConditionsPattern Type Status
"""
