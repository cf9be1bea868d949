import { pciSlot } from '../classes/node-class.ts'
import type { EffectSpan, GpuEffect, NicEffect } from '../effects.ts'
import { linkErrors, onDevice, type Scenario, type Strike } from './scenario.ts'

/** Duration of the errors before the link trains down because of them. */
const LEAD_S = 10
const LEAD_ERRORS_PER_S = 200
const LANES = 16
/** Below this share the generation drops; from it on, half the lanes are lost. */
const HALF = 0.5

/** 4.7: a PCIe link that comes back narrower or slower. */
export const pcieDowntrain: Scenario = {
  name: 'pcie-downtrain',
  summary: 'The PCIe link of one NIC or GPU trains down; its rail takes longer, and every GPU waits for it',
  target: 'nic',
  alsoTarget: 'gpu',
  usualIndex: 3,
  severity: { unit: 'share of PCIe bandwidth left', min: 0.0625, max: 0.5, default: 0.25 },
  durationS: 180,
  effects: (strike) => ({ spans: [lead(strike), narrow(strike)] }),
}

function lead(strike: Strike): EffectSpan {
  const { sinceS, onsetS } = strike
  // If there is no time before the onset, the errors continue for a while after it.
  const fromS = Math.max(sinceS, onsetS - LEAD_S)
  const toS = onsetS + Math.max(2, LEAD_S - (onsetS - fromS))
  return onDevice(strike, fromS, toS, { aer: linkErrors(LEAD_ERRORS_PER_S) })
}

function narrow(strike: Strike): EffectSpan {
  const { node, device, onsetS, endS, severity } = strike
  const model = (device.kind === 'gpu' ? node.gpus : node.nics)[device.index]?.model
  const link = linkOf(severity, model?.pcieGeneration ?? 5)
  if (device.kind === 'gpu') return onDevice(strike, onsetS, endS, link)
  // A NIC that cannot write to memory must not receive, so it pauses its peers.
  const source: NicEffect = { stalledShare: 0.9 - severity, txPausedShare: severity < HALF ? 0.7 - severity : 0.1 }
  // Functions of one adapter share its link.
  const slot = node.nics.filter((nic) => pciSlot(nic) === pciSlot(node.nics[device.index] ?? nic))
  const nics = Object.fromEntries(slot.map(({ index }) => [index, { ...link, ...source }]))
  return { fromS: onsetS, toS: endS, nics }
}

function linkOf(share: number, generation: number): Pick<GpuEffect, 'pcieGeneration' | 'pcieWidth'> {
  if (share >= HALF) return { pcieWidth: LANES * share }
  // Each lower generation has half the bandwidth; the rest is reached by fewer lanes.
  const steps = Math.min(Math.floor(Math.log2(1 / share) + 1e-9), generation - 1)
  return { pcieGeneration: generation - steps }
}
