{{- define "kgrag.name" -}}
{{- if contains "kgrag" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-kgrag{{ end }}
{{- end }}

{{- define "kgrag.labels" -}}
{{ include "kgrag.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "kgrag.selector" -}}
app.kubernetes.io/name: kgrag
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kgrag.confined" -}}
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- end }}
