import { gpuKey, isInstance, partsOfKey } from './gpu-values.ts'
import type { Pod } from './pod-table.ts'

/** A device of a pod that is not the pod's alone. */
export interface SharedDevice {
  readonly key: string
  /** Number of pods that hold it; 0 for the board of a held instance. */
  readonly pods: number
}

/** How many pods hold each device. */
export type Holders = ReadonlyMap<string, number>

/** How many pods hold each device of some pods. */
export function holdersOf(pods: Iterable<Pod>): Holders {
  const holders = new Map<string, number>()
  for (const { devices } of pods) for (const key of devices.keys()) holders.set(key, (holders.get(key) ?? 0) + 1)
  return holders
}

/** Other pods that hold a device of a pod too: the most of any of them. */
export function sharedWith({ devices }: Pod, holders: Holders): number {
  let most = 1
  for (const key of devices.keys()) most = Math.max(most, holders.get(key) ?? 1)
  return most - 1
}

/**
 * The shared devices of a pod, and the boards of its instances, each once. Empty if the pod shares no device: then its
 * row says everything.
 */
export function sharedDevices({ devices }: Pod, holders: Holders): SharedDevice[] {
  const keys = [...devices.keys()]
  const isOwn = keys.every((key) => (holders.get(key) ?? 1) === 1 && !isInstance(key))
  if (isOwn) return []
  const boards = new Set(keys.filter(isInstance).map(boardOf))
  return [
    ...keys.map((key) => ({ key, pods: holders.get(key) ?? 1 })),
    ...[...boards].filter((key) => !devices.has(key)).map((key) => ({ key, pods: 0 })),
  ]
}

function boardOf(instance: string): string {
  const [host, uuid] = partsOfKey(instance)
  return gpuKey(host, uuid, '')
}
