import { type Evidence, evidenceVia, rankOf } from '../sources/pods/evidence.ts'
import { partsOfKey } from './gpu-values.ts'
import { isOver, type Sighting, unseen } from './sighting.ts'

// Joins the evidence of all sources about the pods that hold a device. On a node whose kubelet reports devices, labels
// of an exporter count only if they agree: an exporter names one of several pods, and keeps the names of ended pods.

/** The statement of one source that a pod holds a device. */
export interface DeviceClaim {
  readonly evidence: Evidence
  /** Why the source itself is not sure; empty if it is. */
  readonly doubt: string
  /** Resource of Kubernetes, or driver of the claim; empty if the source does not know it. */
  readonly resource: string
  readonly seen: Sighting
}

/** The statements about a pod and a device, by the owner of the source. */
export type DeviceClaims = Map<object, DeviceClaim>

/** A pod, as far as its devices are concerned. */
interface Holder {
  readonly devices: ReadonlyMap<string, { readonly claims: DeviceClaims }>
}

/** The claim of a record of `pod_device`, with the sighting of the source's earlier claim. */
export function deviceClaim(record: Readonly<Record<string, unknown>>, before: DeviceClaim | undefined): DeviceClaim {
  const evidence = evidenceVia(String(record.via ?? ''))
  const doubt = String(record.doubt ?? '')
  const resource = String(record.resource ?? '')
  if (before?.evidence === evidence && before.doubt === doubt && before.resource === resource) return before
  return { evidence, doubt, resource, seen: before?.seen ?? unseen() }
}

/** The hosts on which a source lists all devices of pods now. */
export function hostsRuled(pods: Iterable<Holder>, nowMs: number): ReadonlySet<string> {
  const hosts = new Set<string>()
  for (const { devices } of pods) {
    for (const [key, { claims }] of devices) if (isRuling(claims, nowMs)) hosts.add(partsOfKey(key)[0])
  }
  return hosts
}

/**
 * Whether a pod holds a device. On a ruled host, a claim that yields does not count alone, and neither does that of a
 * process whose pod has no name: the source that rules names the same pod.
 */
export function isDeviceHeld({ key, namespace, claims }: Held, ruled: ReadonlySet<string>, nowMs: number): boolean {
  if (ruled.size === 0 || isRuling(claims, nowMs)) return true
  const isSure = namespace !== UNNAMED && [...claims.values()].some(({ evidence }) => evidence.weight === 'adds')
  return isSure || !ruled.has(partsOfKey(key)[0])
}

/** A device of a pod, by its key, with the statements about it. */
export interface Held {
  readonly key: string
  /** Namespace of the pod. */
  readonly namespace: string
  readonly claims: DeviceClaims
}

/** Namespace of pods that are known only by their UID. */
const UNNAMED = '@pod'

/** The best statement; undefined if there is none. */
export function bestClaim(claims: DeviceClaims): DeviceClaim | undefined {
  let best: DeviceClaim | undefined
  for (const claim of claims.values())
    if (best === undefined || rankOf(claim.evidence) < rankOf(best.evidence)) best = claim
  return best
}

function isRuling(claims: DeviceClaims, nowMs: number): boolean {
  for (const { evidence, seen } of claims.values())
    if (evidence.weight === 'decides' && !isOver(seen, nowMs)) return true
  return false
}
