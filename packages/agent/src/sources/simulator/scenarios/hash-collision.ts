import type { NodeClass } from '../classes/node-class.ts'
import type { Scenario, StruckDevice } from './scenario.ts'

/** Share of line rate for each of the two rails on a common link. */
const UPLINK_SHARE = 0.5

/** 4.4, second form: the fabric sends the flows of two rails over the same link. */
export const hashCollision: Scenario = {
  name: 'hash-collision',
  summary: 'Flows of two rails share one link of the fabric: both are marked, and neither port is full',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of packets marked', min: 0.02, max: 0.3, default: 0.12 },
  durationS: 120,
  fits: (node, device) => partnerOf(node, device) !== undefined,
  effects: ({ node, device, onsetS, endS, severity }) => {
    const nics = [device.index, partnerOf(node, device) ?? device.index].map((index) => {
      const line = node.nics[index]?.model.speedBytesPerS ?? 0
      return [index, { markedShare: severity, burstBytesPerS: UPLINK_SHARE * line }] as const
    })
    return { spans: [{ fromS: onsetS, toS: endS, nics: Object.fromEntries(nics) }] }
  },
}

/** The next rail; for the last rail, the previous one. None if there is only one rail, or if the NIC is no rail. */
function partnerOf({ nics }: NodeClass, { index }: StruckDevice): number | undefined {
  if (nics[index]?.role !== 'training') return undefined
  return [index + 1, index - 1].find((other) => nics[other]?.role === 'training')
}
