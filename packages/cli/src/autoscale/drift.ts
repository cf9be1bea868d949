import { shownUrl } from '@sonde/sdk/config'
import { ASKING, MANAGED_BY, type ScaledObject, serverAddressOf, type Trigger } from './scaled-object.ts'

/** An object of the API server, whose shape is not trusted. */
type Found = Readonly<Record<string, unknown>>

/** What is wrong with a ScaledObject of the cluster. */
export interface Drift {
  /** `NAMESPACE/NAME`. */
  readonly object: string
  /** Triggers that ask another address than a new rendering would, each as a sentence. */
  readonly stale: readonly string[]
  /** Fields that somebody changed, each as a sentence. */
  readonly edited: readonly string[]
  /** Triggers that an apply would remove. */
  readonly further: readonly string[]
  /** Whether an entry of the configuration renders it. */
  readonly isRendered: boolean
}

/** Most changed fields, and triggers, that are listed of an object. */
const EDITED_MAX = 8
/** Kubernetes accepts no longer names. Unit: characters. */
const NAME_LENGTH_MAX = 63 + 1 + 253

/**
 * Compares a ScaledObject of the cluster with what Sonde renders now; undefined if it is not one of Sonde's, or is the
 * same. Triggers of processor and memory, triggers with their own `prometheusUrl` and triggers that Sonde did not make
 * are never stale.
 *
 * @param rendered By `NAMESPACE/NAME`.
 * @param live Address of the parameter `prometheus_url`; undefined: there is none.
 * @param own Objects and triggers with an address of their own, as `NAMESPACE/NAME TRIGGER`.
 */
export function driftOf(
  found: unknown,
  rendered: ReadonlyMap<string, ScaledObject>,
  live: string | undefined,
  own: ReadonlySet<string>,
): Drift | undefined {
  const metadata = objectIn(found, 'metadata')
  const object = `${textIn(metadata, 'namespace')}/${textIn(metadata, 'name')}`.slice(0, NAME_LENGTH_MAX)
  const ours = rendered.get(object)
  if (ours === undefined && textIn(objectIn(metadata, 'labels'), 'app.kubernetes.io/managed-by') !== MANAGED_BY)
    return undefined
  const triggers = listIn(objectIn(found, 'spec'), 'triggers')
  const stale = triggers.flatMap((trigger) => {
    const name = textIn(trigger, 'name')
    const isJudged = (Object.values(ASKING) as string[]).includes(name) && textIn(trigger, 'type') === 'prometheus'
    if (!isJudged || live === undefined || own.has(`${object} ${name}`)) return []
    const address = textIn(objectIn(trigger, 'metadata'), 'serverAddress')
    if (serverAddressOf(address)?.url === live) return []
    return [`${name} asks ${address === '' ? 'no address' : shortOf(shownUrl(address))}, and Prometheus is at ${live}`]
  })
  const names = new Set(ours?.spec.triggers.map(({ name }) => name))
  const further = triggers.filter((trigger) => ours !== undefined && !names.has(textIn(trigger, 'name')))
  const edited = ours === undefined ? [] : editsOf(ours, found).slice(0, EDITED_MAX)
  if (stale.length === 0 && edited.length === 0) return undefined
  return {
    ...{ object, stale, edited, isRendered: ours !== undefined },
    further: further
      .slice(0, EDITED_MAX)
      .map((trigger) => shortOf(textIn(trigger, 'name') || textIn(trigger, 'type') || 'without a name')),
  }
}

/** Fields that Sonde writes and the cluster has otherwise. */
function editsOf({ spec }: ScaledObject, found: unknown): string[] {
  const given = objectIn(found, 'spec')
  const { triggers, ...fields } = spec
  const changed = differences(fields, given, 'spec')
  for (const trigger of triggers) {
    const same = listIn(given, 'triggers').find((each) => textIn(each, 'name') === trigger.name)
    if (same === undefined) changed.push(`the trigger ${trigger.name} is missing`)
    else changed.push(...differences(withoutAddress(trigger), same, trigger.name))
  }
  return changed
}

/** Whether an address is stale is a question of its own. */
function withoutAddress({ metadata, ...trigger }: Trigger): object {
  const { serverAddress: _, ...others } = metadata
  return { ...trigger, metadata: others }
}

function differences(wanted: object, found: Found, path: string): string[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    const place = `${path}.${key}`
    if (typeof value === 'object') return differences(value, objectIn(found, key), place)
    const given = Object.hasOwn(found, key) ? found[key] : undefined
    if (given === value) return []
    const is = given === undefined ? 'is missing' : `is ${shortOf(given)}`
    return [`${place} ${is}, and Sonde writes ${shortOf(value)}`]
  })
}

function shortOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function objectIn(value: unknown, key: string): Found {
  const inner = (value as Found | null | undefined)?.[key]
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Found) : {}
}

function textIn(value: Found, key: string): string {
  const inner = value[key]
  return typeof inner === 'string' ? inner : ''
}

function listIn(value: Found, key: string): readonly Found[] {
  const inner = value[key]
  return Array.isArray(inner) ? inner.filter((each) => typeof each === 'object' && each !== null) : []
}
