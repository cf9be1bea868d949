import type { EffectEvent } from '../effects.ts'
import type { Simulation } from '../simulation.ts'

type KindOfGpu = Extract<EffectEvent, { gpu: number }>['kind']
type KindOfNic = Extract<EffectEvent, { nic: number }>['kind']

/** How often something happened to a device up to `t`. */
export function eventsOf(
  { events }: Simulation,
  device: { readonly gpu: number; readonly kind: KindOfGpu } | { readonly nic: number; readonly kind: KindOfNic },
  t: number,
): number {
  let count = 0
  for (const event of events) {
    if (event.atS > t) break
    if (event.kind !== device.kind) continue
    const isIt =
      'gpu' in event ? 'gpu' in device && device.gpu === event.gpu : 'nic' in device && device.nic === event.nic
    if (isIt) count += 'count' in event ? (event.count ?? 1) : 1
  }
  return count
}
