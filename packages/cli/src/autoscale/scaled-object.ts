import type { AutoscaleEntry } from './config.ts'
import { scaleQuery } from './query.ts'

/** A trigger of KEDA. */
export interface Trigger {
  readonly type: string
  readonly name: string
  readonly metricType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly authenticationRef?: { readonly name: string }
}

/** A ScaledObject of KEDA, with the fields that Sonde writes. */
export interface ScaledObject {
  readonly apiVersion: 'keda.sh/v1alpha1'
  readonly kind: 'ScaledObject'
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string }
    readonly minReplicaCount: number
    readonly maxReplicaCount: number
    readonly fallback?: { readonly failureThreshold: number; readonly replicas: number; readonly behavior: string }
    readonly triggers: readonly Trigger[]
  }
}

/** Where KEDA finds name and password of a Prometheus: in a Secret, which the user makes. */
export interface TriggerAuthentication {
  readonly apiVersion: 'keda.sh/v1alpha1'
  readonly kind: 'TriggerAuthentication'
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: { readonly secretTargetRef: readonly { parameter: string; name: string; key: string }[] }
}

/** The address of a Prometheus as KEDA gets it. */
export interface ServerAddress {
  /** Without name, password, query and a slash at the end. */
  readonly url: string
  readonly hasCredentials: boolean
}

/** Value of the label `app.kubernetes.io/managed-by`. */
export const MANAGED_BY = 'sonde'
/** Names of the triggers that ask a Prometheus. */
export const ASKING = { gpu_utilization: 'sonde-gpu-utilization', queue_depth: 'sonde-queue-depth' } as const

/** Whether a trigger asks the Prometheus of the parameter `prometheus_url`. */
export function followsParam({ trigger, prometheusUrl }: AutoscaleEntry): boolean {
  return prometheusUrl === undefined && trigger in ASKING
}

/** The entries of each Deployment, by the namespace and name of its ScaledObject. */
export function entriesByObject(entries: readonly AutoscaleEntry[]): Map<string, readonly AutoscaleEntry[]> {
  return Map.groupBy(entries, ({ namespace, service }) => `${namespace}/${service}`)
}

/** An address without its secrets; undefined if it is none of http or https. */
export function serverAddressOf(text: string): ServerAddress | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  const path = url.pathname.replace(/\/+$/, '')
  return { url: `${url.protocol}//${url.host}${path}`, hasCredentials: url.username !== '' || url.password !== '' }
}

/**
 * The objects for the entries of one Deployment.
 *
 * @param live Address of the parameter `prometheus_url`; undefined if an entry that follows it is not among them.
 */
export function autoscaleObjects(
  entries: readonly AutoscaleEntry[],
  live: ServerAddress | undefined,
): readonly (ScaledObject | TriggerAuthentication)[] {
  const [first] = entries
  if (first === undefined) return []
  const { namespace, service: name } = first
  const secrets = new Set<string>()
  const triggers = entries.map((entry) => {
    const address = addressFor(entry, live)
    const secret = address?.hasCredentials === true ? secretName(entry) : undefined
    if (secret !== undefined) secrets.add(secret)
    return triggerOf(entry, address, secret)
  })
  const scaled: ScaledObject = {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' },
    metadata: {
      ...{ name, namespace },
      labels: { 'app.kubernetes.io/managed-by': MANAGED_BY, app: first.app, service: first.service },
    },
    spec: {
      scaleTargetRef: { name: first.deployment },
      ...{ minReplicaCount: first.min, maxReplicaCount: first.max },
      // KEDA has no fallback for processor and memory. An exporter that ended must not remove pods.
      ...(entries.some(({ trigger }) => trigger in ASKING)
        ? { fallback: { failureThreshold: 3, replicas: first.min, behavior: 'currentReplicasIfHigher' } }
        : {}),
      triggers,
    },
  }
  return [...[...secrets].map((secret) => authenticationOf(secret, namespace)), scaled]
}

function addressFor({ trigger, prometheusUrl }: AutoscaleEntry, live: ServerAddress | undefined) {
  if (!(trigger in ASKING)) return undefined
  return prometheusUrl === undefined ? live : serverAddressOf(prometheusUrl)
}

function secretName({ service, prometheusUrl, trigger }: AutoscaleEntry): string {
  return prometheusUrl === undefined ? 'sonde-prometheus' : `${service}-${trigger.replace('_', '-')}`
}

function triggerOf(entry: AutoscaleEntry, address: ServerAddress | undefined, secret: string | undefined): Trigger {
  const { trigger, threshold } = entry
  if (trigger === 'cpu' || trigger === 'memory')
    return { type: trigger, name: `sonde-${trigger}`, metricType: 'Utilization', metadata: { value: `${threshold}` } }
  return {
    ...{ type: 'prometheus', name: ASKING[trigger] },
    // A mean over pods is compared with the threshold as it is; a sum is divided by the number of pods.
    metricType: trigger === 'gpu_utilization' ? 'Value' : 'AverageValue',
    metadata: {
      serverAddress: address?.url ?? '',
      query: scaleQuery(entry),
      threshold: `${threshold}`,
      // No element is an error, so that the fallback holds; by default it would count as 0.
      ignoreNullValues: 'false',
      ...(secret === undefined ? {} : { authModes: 'basic' }),
    },
    ...(secret === undefined ? {} : { authenticationRef: { name: secret } }),
  }
}

function authenticationOf(name: string, namespace: string): TriggerAuthentication {
  return {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication' },
    metadata: { name, namespace },
    spec: { secretTargetRef: ['username', 'password'].map((key) => ({ parameter: key, name, key })) },
  }
}
