import {
  type ConfigIssue,
  choice,
  decimal,
  integer,
  oneOrMany,
  pattern,
  secret,
  setting,
  urlPattern,
} from '@sonde/sdk/config'
import * as v from 'valibot'

/** Most entries of `kubernetes.autoscale`. */
const ENTRY_COUNT_MAX = 256

/** Triggers by each spelling: that of configurations here, and that of manifests of rack products. */
const SPELLINGS = {
  gpu_utilization: 'gpu_utilization',
  gpuUtilization: 'gpu_utilization',
  queue_depth: 'queue_depth',
  queueDepth: 'queue_depth',
  cpu: 'cpu',
  memory: 'memory',
} as const

/** What an entry scales by. */
export type TriggerKind = (typeof SPELLINGS)[keyof typeof SPELLINGS]

const words = Object.keys(SPELLINGS) as (keyof typeof SPELLINGS)[]
const name = (lengthMax: number, of: string) =>
  pattern(
    new RegExp(`^[a-z0-9]([-a-z0-9]{0,${lengthMax - 2}}[a-z0-9])?$`),
    `${of} of small letters, digits and -, at most ${lengthMax}`,
  )
const described = <S extends v.GenericSchema>(schema: S, text: string) => v.pipe(schema, v.description(text))

const entry = {
  app: described(name(63, 'a name'), 'App of the service, a label of the ScaledObject'),
  service: described(name(63, 'a name'), 'Service, which names the ScaledObject'),
  namespace: setting(name(63, 'a name'), 'default', 'Namespace of the Deployment and of the ScaledObject'),
  // Kubernetes cuts longer names in the names of pods, and the query selects pods by them.
  deployment: described(name(46, 'a name'), 'Deployment that is scaled; the query selects its pods by their names'),
  min: setting(
    integer(1, 10_000, 'pods'),
    1,
    'Fewest pods. Not 0: without a pod there is no number that could start one',
  ),
  max: described(integer(1, 10_000, 'pods'), 'Most pods'),
  trigger: described(
    v.pipe(
      choice(words),
      v.transform((word): TriggerKind => SPELLINGS[word]),
    ),
    'What the entry scales by. Entries of one Deployment are triggers of one ScaledObject',
  ),
  threshold: described(
    decimal(0.001, 1e9, 'percent, or requests that wait for each pod'),
    'Mean per pod at which the number of pods is right: percent of GPU, processor or memory, or requests that wait',
  ),
  metric: v.optional(
    described(
      pattern(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$/, 'the name of a metric'),
      'Metric with a series for each pod (or GPU). Default: `DCGM_FI_DEV_GPU_UTIL` and its name in DCGM 4.6, or `vllm:num_requests_waiting`',
    ),
  ),
  prometheusUrl: v.optional(
    described(
      secret(
        urlPattern(/^https?:\/\/[^\s?#]{1,1000}$/, 'http://HOST:PORT or https://HOST/PATH, without a query'),
        'url',
      ),
      'Where KEDA asks for this trigger. Default: the parameter `prometheus_url`. Credentials in it are never rendered',
    ),
  ),
}

/** Schema of `kubernetes`. */
export const kubernetesSchema = v.strictObject(
  { autoscale: oneOrMany(entry, ENTRY_COUNT_MAX) },
  'a block with autoscale',
)

const entrySchema = v.strictObject(entry)

/** An entry of `kubernetes.autoscale` after checking. */
export type AutoscaleEntry = v.InferOutput<typeof entrySchema>

/** The entries, of which a single one may be written without a list. */
export function autoscaleEntries({ autoscale }: { readonly autoscale?: unknown }): readonly AutoscaleEntry[] {
  if (autoscale === undefined) return []
  return (Array.isArray(autoscale) ? autoscale : [autoscale]) as AutoscaleEntry[]
}

/** Faults between keys of an entry, and between entries. */
export function autoscaleFaults(entries: readonly AutoscaleEntry[]): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  const firsts = new Map<string, AutoscaleEntry>()
  const owners = new Map<string, string>()
  const triggers = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    const { namespace, service, deployment, trigger, threshold, min, max } = entry
    const path = entries.length === 1 ? 'kubernetes.autoscale' : `kubernetes.autoscale[${index}]`
    const refuse = (key: keyof AutoscaleEntry, allowed: string) =>
      issues.push({ path: `${path}.${key}`, fault: `is ${entry[key]}`, allowed })
    if (max < min) refuse('max', `at least min, which is ${min}`)
    if (trigger !== 'queue_depth' && threshold > 100) refuse('threshold', `at most 100 percent for ${trigger}`)
    const target = `${namespace}/${deployment}`
    const first = firsts.get(target) ?? entry
    firsts.set(target, first)
    for (const key of ['app', 'service', 'min', 'max'] as const)
      if (entry[key] !== first[key]) refuse(key, `${first[key]}, as in the other entry of ${target}`)
    const object = `${namespace}/${service}`
    const owner = owners.get(object) ?? target
    owners.set(object, owner)
    if (owner !== target) refuse('service', `a name of its own: ${owner} has the ScaledObject ${object}`)
    if (triggers.has(`${target} ${trigger}`)) refuse('trigger', `each trigger once for ${target}`)
    triggers.add(`${target} ${trigger}`)
  }
  return issues
}
