import { bandwidthOf, generationOf, TRANSFERS_PER_SECOND } from '../../sources/pci/bandwidth.ts'
import type { HintDevice } from '../device.ts'
import type { Look } from '../look/look.ts'
import { firstKnown, maxKnown, median, sumKnown } from '../look/numbers.ts'
import { slowedGpus, trafficOf } from '../look/workload.ts'
import { GPU, NIC, PCI } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { Rule } from './rule.ts'
import { amount, percent, titleOf } from './words.ts'

const SHARE = 0.9
const TRAFFIC_BYTES = 1e9

/** Least traffic in the busier direction. */
const TRAFFIC = {
  what: 'traffic where the link is slower',
  value: TRAFFIC_BYTES / 1e9,
  unit: 'GB/s',
  source: 'idle GPUs slow their links down to save power; NICs do not',
} as const

interface Link {
  readonly generation: number
  readonly width: number
}

function linkNow(look: Look): Link {
  return {
    generation: firstKnown(generationOf(look.last(PCI.speed)), look.last(GPU.linkGeneration)),
    width: firstKnown(look.last(PCI.width), look.last(GPU.linkWidth)),
  }
}

function linkMax(look: Look): Link {
  return {
    generation: firstKnown(generationOf(look.last(PCI.speedMax)), look.last(GPU.linkGenerationMax)),
    width: firstKnown(look.last(PCI.widthMax), look.last(GPU.linkWidthMax)),
  }
}

/** Speed times width, as a share of the maximum of device and slot. */
function shareOf(look: Look): number {
  const most = look.device.limits.pcie_bytes_per_s ?? Number.NaN
  return firstKnown(look.last(PCI.bandwidth) / most, capacityOf(linkNow(look)) / capacityOf(linkMax(look)))
}

function capacityOf({ generation, width }: Link): number {
  const speed = TRANSFERS_PER_SECOND[generation - 1]
  // Absent devices report 0, 63 or 255 lanes.
  return speed === undefined || width < 1 || width > 32 ? Number.NaN : speed * width
}

/**
 * Whether lanes are lost, which never happens to save power. If so, the link would be below the maximum of device and
 * slot even at its highest speed.
 */
function hasLostLanes(look: Look): boolean {
  const { generation, width: widthMax } = linkMax(look)
  const { width } = linkNow(look)
  const most = look.device.limits.pcie_bytes_per_s ?? Number.NaN
  const atBest = bandwidthOf(TRANSFERS_PER_SECOND[generation - 1], width) ?? Number.NaN
  return firstKnown(atBest / most, width / widthMax) < SHARE
}

/**
 * Whether a hardly used GPU may have slowed its link down to save power. So may a GPU that does not report its traffic.
 */
function savesPower(look: Look): boolean {
  const busier = maxKnown(look.mean(GPU.pcieSent), look.mean(GPU.pcieReceived))
  return !(busier >= TRAFFIC_BYTES) && !hasLostLanes(look)
}

/** The median share of siblings on other cards. Ports of the same card share the link. */
function usualOnOtherCards(look: Look): number {
  const others = look.scope.siblings(look).filter(({ device }) => slotOf(device) !== slotOf(look.device))
  return median(others.map(shareOf))
}

/** Address of a device without its function; its id if it has no address. */
function slotOf({ address, id }: HintDevice): string {
  return address === '' ? id : address.replace(/\.\d$/, '')
}

/** Traffic of the device over its link in both directions. Unit: bytes per second. */
function usedBytes(look: Look): number {
  if (look.device.kind === 'gpu') return sumKnown(look.mean(GPU.pcieSent), look.mean(GPU.pcieReceived))
  return trafficOf(look, 3000)
}

function words({ generation, width }: Link): string {
  return `Gen${generation} ×${width}`
}

function ruleFor(of: 'gpu' | 'nic'): Rule {
  const uses =
    of === 'gpu'
      ? [PCI.bandwidth, PCI.speed, PCI.width, GPU.linkGeneration, GPU.linkWidth, GPU.pcieSent, GPU.pcieReceived]
      : [
          PCI.bandwidth,
          PCI.speed,
          PCI.speedMax,
          PCI.width,
          PCI.widthMax,
          NIC.sentBytes,
          NIC.receivedBytes,
          NIC.writesStalled,
        ]
  return {
    name: 'pcie_downtrain',
    sees: `The PCIe link of a ${of === 'gpu' ? 'GPU' : 'NIC'} runs ${of === 'gpu' ? 'narrower than device and slot can, or slower while it is in use' : 'slower or narrower than device and slot can, with or without traffic'}.`,
    severity: 'critical',
    of,
    neededMs: 3000,
    uses: of === 'gpu' ? [...uses, PCI.speedMax, PCI.widthMax, GPU.linkGenerationMax, GPU.linkWidthMax] : uses,
    shows: of === 'gpu' ? [PCI.bandwidth, GPU.linkGeneration, GPU.linkWidth] : [PCI.bandwidth, NIC.writesStalled],
    limits: [
      {
        what: 'speed × width',
        value: SHARE * 100,
        unit: '% of the most',
        source: 'the next lower width or speed is 50 % or less',
      },
      ...(of === 'gpu' ? [TRAFFIC] : []),
    ],
    not: {
      ...(of === 'gpu'
        ? { 'power saving: a hardly used GPU slows its link down, but keeps its lanes': savesPower }
        : {}),
      'a slot with fewer lanes by design: siblings on other cards run at the same share': (look) =>
        usualOnOtherCards(look) < SHARE,
    },
    toldApart: ['a host of an older generation: the maximum is the lower of device and slot'],
    find(look) {
      const measure = shareMeasure(shareOf(look), '<', SHARE, '% of the most')
      if (!isPassed(measure)) return undefined
      const [now, most] = [linkNow(look), linkMax(look)]
      const usual = usualOnOtherCards(look)
      const others = Number.isNaN(usual) ? '' : `, others ${percent(usual)}`
      const used = usedBytes(look)
      const moved = Number.isNaN(used) ? '' : `; it moves ${amount(used, 'B')}/s in all`
      const stalled = look.mean(NIC.writesStalled)
      const effect = stalled > 0.1 ? `, its writes wait ${percent(stalled)} of the time` : ''
      return {
        title: `${titleOf(look.device)} runs on PCIe ${words(now)} of ${words(most)}`,
        measure,
        sentence: (value, limit) => `${look.device.name} has ${value} of its link${others}, ${limit}${moved}${effect}`,
        affected: slowedGpus(look),
      }
    },
  }
}

/** The link of a NIC. */
export const nicDowntrain = ruleFor('nic')
/** The link of a GPU. */
export const gpuDowntrain = ruleFor('gpu')
