/** Labels of a pod that name its app. The first that a pod has decides. */
export const APP_LABELS = ['app', 'app.kubernetes.io/name'] as const

/** Labels of a pod that name its service, likewise. */
export const SERVICE_LABELS = ['service'] as const

/** App and service of a pod; empty if no label names them. */
export interface PodApp {
  readonly app: string
  readonly service: string
  /** The label that named the app, as Kubernetes spells it; empty if there is none. */
  readonly appLabel: string
  readonly serviceLabel: string
}

/**
 * Decides the app and the service of a pod by its labels. All sources and the console decide by this function.
 *
 * @param labelOf Returns a label of the pod by its name in Kubernetes, empty if the pod has no such label. Exporters
 * spell names in other ways: see {@link labelSpelling}.
 */
export function podAppOf(labelOf: (name: string) => string): PodApp {
  const appLabel = APP_LABELS.find((name) => labelOf(name) !== '') ?? ''
  const serviceLabel = SERVICE_LABELS.find((name) => labelOf(name) !== '') ?? ''
  const valueBy = (name: string) => (name === '' ? '' : labelOf(name))
  return { app: valueBy(appLabel), service: valueBy(serviceLabel), appLabel, serviceLabel }
}

/** The name of a pod's label as exporters write it: each character that Prometheus does not allow becomes `_`. */
export function labelSpelling(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_')
}

/** The key of a pod among pods of one cluster. */
export function namespacedName(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
