{{- /* Security of the agent's container: the values, and what each part of the configuration needs in addition. */ -}}
{{- define "sonde.agent.securityContext" -}}
{{- $add := list -}}
{{- if .Values.nvml.profiling -}}{{- $add = list "SYS_ADMIN" -}}{{- end -}}
{{- if .Values.podNics.enabled -}}{{- $add = list "SYS_ADMIN" "SYS_PTRACE" -}}{{- end -}}
{{- $context := .Values.securityContext -}}
{{- if $add -}}
{{- $context = mergeOverwrite (dict "capabilities" (dict "add" $add)) $context -}}
# SYS_ADMIN{{ if .Values.nvml.profiling }}: the driver reports the activity of tensor cores and SMs to administrators only{{ end }}
{{- if .Values.podNics.enabled }}
# SYS_ADMIN, SYS_PTRACE: enter the network namespaces of other pods
{{- end }}
{{ end -}}
{{- if .Values.doca.enabled -}}
{{- $context = mergeOverwrite (omit $context "allowPrivilegeEscalation" "capabilities" "seccompProfile") (dict "privileged" true) -}}
# privileged: no narrower right opens /dev/fwctl and /dev/infiniband in a container
{{ end -}}
{{ toYaml $context }}
{{- end -}}
