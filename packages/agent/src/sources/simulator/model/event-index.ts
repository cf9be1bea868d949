import type { EffectEvent } from '../effects.ts'

type OfGpu = Extract<EffectEvent, { readonly gpu: number }>
type OfNic = Extract<EffectEvent, { readonly nic: number }>

/** All one-time events by device and kind, so that a read checks only the events of its device. */
export class EventIndex {
  readonly #gpus = new Map<number, EffectEvent[]>()
  readonly #nics = new Map<number, EffectEvent[]>()

  constructor(events: readonly EffectEvent[]) {
    for (const event of events.toSorted((a, b) => a.atS - b.atS)) {
      const [devices, index] = 'gpu' in event ? [this.#gpus, event.gpu] : [this.#nics, event.nic]
      const known = devices.get(index)
      if (known === undefined) devices.set(index, [event])
      else known.push(event)
    }
  }

  /** Number of events of a GPU up to `t`; with `xid`, only XID errors of that number. */
  ofGpu(index: number, kind: OfGpu['kind'], t: number, xid?: number): number {
    return count(this.#gpus.get(index), kind, t, xid)
  }

  /** Number of events of a NIC up to `t`. */
  ofNic(index: number, kind: OfNic['kind'], t: number): number {
    return count(this.#nics.get(index), kind, t)
  }

  /** The last XID error of a GPU up to `t`; undefined if there was none. */
  lastXid(index: number, t: number): number | undefined {
    const last = this.#gpus.get(index)?.findLast((event) => event.kind === 'xid' && event.atS <= t)
    return last?.kind === 'xid' ? last.xid : undefined
  }

  /** All XID numbers that a GPU ever reports. */
  xidsOf(index: number): number[] {
    const xids = this.#gpus.get(index)?.flatMap((event) => (event.kind === 'xid' ? [event.xid] : [])) ?? []
    return [...new Set(xids)]
  }
}

function count(events: readonly EffectEvent[] | undefined, kind: string, t: number, xid?: number): number {
  if (events === undefined) return 0
  let sum = 0
  for (const event of events) {
    if (event.atS > t) break
    if (event.kind !== kind) continue
    if (event.kind !== 'xid') sum += event.count ?? 1
    else if (event.xid === xid) sum++
  }
  return sum
}
