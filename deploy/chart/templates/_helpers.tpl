{{/* Image of a program: its own registry, name and tag where they are set, else those of all. */}}
{{- define "kai.image" -}}
{{- $root := index . 0 -}}
{{- $image := (index . 1).image | default dict -}}
{{- $registry := $image.registry | default $root.Values.global.registry -}}
{{- $name := $image.name | default "kai-scheduler" -}}
{{- $tag := $image.tag | default $root.Values.global.tag | default $root.Chart.AppVersion -}}
{{- if hasPrefix "sha256:" $tag -}}
{{- printf "%s/%s@%s" $registry $name $tag -}}
{{- else -}}
{{- printf "%s/%s:%s" $registry $name $tag -}}
{{- end -}}
{{- end -}}

{{/* Names of pull secrets, given as names or as objects with a name. */}}
{{- define "kai.pullSecrets" -}}
{{- range . }}
- name: {{ kindIs "string" . | ternary . (get (kindIs "map" . | ternary . dict) "name") }}
{{- end }}
{{- end -}}

{{/* Puts a value into a dict at a path such as a.b.c; nothing where the value is not set. */}}
{{- define "kai.put" -}}
{{- $at := index . 0 -}}
{{- $path := splitList "." (index . 1) -}}
{{- $value := index . 2 -}}
{{- if not (kindIs "invalid" $value) -}}
{{- range initial $path -}}
{{- if not (hasKey $at .) -}}{{- $_ := set $at . dict -}}{{- end -}}
{{- $at = index $at . -}}
{{- end -}}
{{- $_ := set $at (last $path) $value -}}
{{- end -}}
{{- end -}}

{{/* "true" on OpenShift, where the value or the API server says so. */}}
{{- define "kai.isOpenshift" -}}
{{- if or .Values.openshift (.Capabilities.APIVersions.Has "security.openshift.io/v1") -}}true{{- end -}}
{{- end -}}

{{/* A security context. OpenShift gives pods users and groups of their namespace, and refuses those that they name. */}}
{{- define "kai.securityContext" -}}
{{- $context := index . 1 -}}
{{- if include "kai.isOpenshift" (index . 0) -}}
{{- $context = omit $context "runAsUser" "runAsGroup" "fsGroup" -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{/* Refuses another namespace or account of reservation pods than that which roles and admission policies are for. */}}
{{- define "kai.checkReservation" -}}
{{- $name := index . 1 -}}
{{- if and $name (ne $name "kai-resource-reservation") -}}
{{- fail (printf "global.resourceReservation.%s can only be kai-resource-reservation, as roles and admission policies are for that one, and not %q: take it out" (index . 0) $name) -}}
{{- end -}}
{{- end -}}

{{/* Refuses what no chart knows under `global`. A chart around this one may have values of its own there. */}}
{{- define "kai.checkGlobal" -}}
{{- include "kai.checkReservation" (list "namespace" .Values.global.resourceReservation.namespace) -}}
{{- include "kai.checkReservation" (list "serviceAccount" .Values.global.resourceReservation.serviceAccount) -}}
{{- if .Chart.IsRoot -}}
{{- $known := splitList " " (include "kai.globalValues" .) -}}
{{- range $key := keys .Values.global | sortAlpha -}}
{{- if not (has $key $known) -}}
{{- fail (printf "global.%s is neither a value of this chart nor of KAI's: take it out, or correct it" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
