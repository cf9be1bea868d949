import type { GpuAttribution, GpuOfPod } from '@sonde/sdk/api'
import type { Confidence } from '../sources/pods/evidence.ts'
import { partsOfKey } from './gpu-values.ts'
import { bestClaim, type DeviceClaims } from './held-by.ts'
import type { Pod, PodDevice } from './pod-table.ts'

/** Sentences about one pod. Policy: further contradictions are not listed. */
const NOTES_MAX = 8
const CONFIDENCES: readonly Confidence[] = ['certain', 'likely', 'doubtful']

/**
 * How the app and the devices of a pod were decided, and how sure that is: as sure as the least certain device.
 *
 * @param refuters Pods for which a source reports a device against better evidence, by the key of the device.
 */
export function attributionOf(pod: Pod, refuters: ReadonlyMap<string, readonly Pod[]>): GpuAttribution {
  const { devices, refuted, origin } = pod
  const claims = [...devices.values()].flatMap((device) => bestClaim(device.claims) ?? [])
  const doubts = claims.flatMap(({ doubt }) => (doubt === '' ? [] : [doubt]))
  const levels = claims.map(({ evidence, doubt }) => (doubt === '' ? evidence.confidence : 'doubtful'))
  const worst = CONFIDENCES.findLast((level) => levels.includes(level)) ?? null
  const others = [...devices].flatMap(([key, device]) =>
    (refuters.get(key) ?? []).map((other) => contradiction(key, device, other, pod)),
  )
  const lost = [...refuted].map(
    ([key, device]) => `${viaOf(device)} reports that it holds ${words(key)}; nothing else does`,
  )
  return {
    confidence: worst,
    from: [...new Set(claims.map(({ evidence }) => evidence.via))],
    appLabel: origin?.appLabel ?? '',
    serviceLabel: origin?.serviceLabel ?? '',
    labelsFrom: origin?.via ?? '',
    phase: origin?.phase ?? '',
    waiting: origin?.waiting ?? '',
    notes: [...new Set([...doubts, ...others, ...lost])].slice(0, NOTES_MAX),
  }
}

/** A device that a pod holds, with the best statement about it. */
export function heldGpu(key: string, claims: DeviceClaims): GpuOfPod {
  const [host, uuid, instance] = partsOfKey(key)
  const best = bestClaim(claims)
  if (best === undefined) return { host, uuid, instance, via: '', confidence: null, doubt: '', resource: '' }
  const { evidence, doubt, resource } = best
  const { via, confidence } = evidence
  return { host, uuid, instance, via, confidence: doubt === '' ? confidence : 'doubtful', doubt, resource }
}

/** Pods that a source names for a device against better evidence, by the key of the device. */
export function refutersOf(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byDevice = new Map<string, Pod[]>()
  for (const pod of pods) {
    for (const key of pod.refuted.keys()) byDevice.set(key, [...(byDevice.get(key) ?? []), pod])
  }
  return byDevice
}

function contradiction(key: string, device: PodDevice, other: Pod, { namespace, pod }: Pod): string {
  const claimed = other.refuted.get(key)
  const from = claimed === undefined ? 'another source' : viaOf(claimed)
  return `${from} names ${other.namespace}/${other.pod} for ${words(key)}; ${viaOf(device)} names ${namespace}/${pod}`
}

function viaOf({ claims }: PodDevice): string {
  return bestClaim(claims)?.evidence.via ?? 'an unknown source'
}

function words(key: string): string {
  const [, uuid, instance] = partsOfKey(key)
  return instance === '' ? uuid : `instance ${instance} of ${uuid}`
}
