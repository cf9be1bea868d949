{{- /* Names, labels, and the image. */ -}}

{{- define "sonde.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sonde.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 55 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 55 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 55 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sonde.console.fullname" -}}
{{- printf "%s-console" (include "sonde.fullname" .) -}}
{{- end -}}

{{- define "sonde.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "sonde.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sonde.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* Labels of all objects. */ -}}
{{- define "sonde.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: sonde
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Labels by which the agent's objects find its pods. They never change. */ -}}
{{- define "sonde.selector" -}}
app.kubernetes.io/name: {{ include "sonde.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sonde.agent.labels" -}}
{{ include "sonde.selector" . }}
app.kubernetes.io/component: agent
{{ include "sonde.labels" . }}
{{- end -}}

{{- define "sonde.console.selector" -}}
app.kubernetes.io/name: {{ include "sonde.name" . }}-console
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sonde.console.labels" -}}
{{ include "sonde.console.selector" . }}
app.kubernetes.io/component: console
{{ include "sonde.labels" . }}
{{- end -}}

{{- define "sonde.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry -}}
{{- $name := .Values.image.repository -}}
{{- if $registry -}}{{- $name = printf "%s/%s" $registry $name -}}{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $name .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}
