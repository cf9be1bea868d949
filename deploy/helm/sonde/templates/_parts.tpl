{{- /* Parts of pods and monitors. */ -}}

{{- /* Whether an object of the Prometheus operator scrapes the agents: "true" or nothing. */ -}}
{{- define "sonde.isMonitored" -}}
{{- if or .Values.serviceMonitor.enabled .Values.podMonitor.enabled -}}true{{- end -}}
{{- end -}}

{{- /* Refuses an object whose kind the cluster does not know. Takes a list: context, value, kind with its version. */ -}}
{{- define "sonde.needs" -}}
{{- $root := index . 0 -}}
{{- $value := index . 1 -}}
{{- $kind := index . 2 -}}
{{- if not ($root.Capabilities.APIVersions.Has $kind) -}}
{{- fail (printf "%s is true, but the cluster does not know %s: install the Prometheus operator first. Without a cluster, as in helm template, add --api-versions %s" $value $kind $kind) -}}
{{- end -}}
{{- end -}}

{{- /* The Pod Security level that the pods of the release need. */ -}}
{{- define "sonde.podSecurityLevel" -}}
{{- if .Values.agent.enabled -}}privileged{{- else -}}restricted{{- end -}}
{{- end -}}

{{- /* Whether a configuration of Sonde has a certificate: "true" or nothing. Then each of its listeners speaks TLS. */ -}}
{{- define "sonde.hasCertificate" -}}
{{- with .access }}{{ with .tls }}{{ if .cert_file }}true{{ end }}{{ end }}{{ end -}}
{{- end -}}

{{- /* A probe. Takes a list: values of the probe, name of the port, configuration of Sonde. */ -}}
{{- define "sonde.probe" -}}
{{- $probe := index . 0 -}}
httpGet:
  path: {{ $probe.path }}
  port: {{ index . 1 }}
  {{- if include "sonde.hasCertificate" (index . 2) }}
  # The kubelet does not check the certificate.
  scheme: HTTPS
  {{- end }}
initialDelaySeconds: {{ $probe.initialDelaySeconds }}
periodSeconds: {{ $probe.periodSeconds }}
timeoutSeconds: {{ $probe.timeoutSeconds }}
failureThreshold: {{ $probe.failureThreshold }}
{{- end -}}

{{- /* How a monitor scrapes. Takes the values of the monitor, with metricsSet. */ -}}
{{- define "sonde.endpoint" -}}
path: /metrics
params:
  set: [{{ .set }}]
{{- with .monitor.interval }}
interval: {{ . }}
{{- end }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- if eq .monitor.scheme "https" }}
scheme: https
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
honorLabels: {{ .monitor.honorLabels }}
{{- with .monitor.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Configuration of the agent. Values of the user win over the keys of the chart. */ -}}
{{- define "sonde.agent.config" -}}
{{- $config := dict -}}
{{- if .Values.kubernetes.enablePodLabels -}}
{{- $config = dict "export" (dict "prometheus" (dict "copy_pod_labels" true)) -}}
{{- end -}}
{{- /* No application reaches the socket of a folder that no other container has. */ -}}
{{- if not .Values.ipc.enabled -}}
{{- $config = mergeOverwrite $config (dict "service" (dict "enabled" false)) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $config .Values.config) -}}
{{- end -}}

{{- /* Configuration of the console. */ -}}
{{- define "sonde.console.config" -}}
{{- $console := dict "host" "0.0.0.0" "port" 9395 -}}
{{- with .Values.console.prometheus.url -}}
{{- $console = mergeOverwrite $console (dict "prometheus" (dict "url" .)) -}}
{{- end -}}
{{- toYaml (mergeOverwrite (dict "console" $console "store" (dict "dir" "/var/lib/sonde")) .Values.console.config) -}}
{{- end -}}
