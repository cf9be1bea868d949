import { bandwidthOf, GENERATION_TRANSFERS_PER_SECOND, generationOf } from '../../sources/pci/bandwidth.ts'
import type { HintDevice } from '../device.ts'
import type { Inspection } from '../inspection/inspection.ts'
import { firstKnown, maxKnown, median, sumKnown } from '../inspection/numbers.ts'
import { portTraffic, slowedGpus } from '../inspection/workload.ts'
import { GPU, NIC, PCI } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, hintDeviceTitle, percent } from './words.ts'

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

function linkNow(inspection: Inspection): Link {
  return {
    generation: firstKnown(generationOf(inspection.last(PCI.speed)), inspection.last(GPU.linkGeneration)),
    width: firstKnown(inspection.last(PCI.width), inspection.last(GPU.linkWidth)),
  }
}

function linkMax(inspection: Inspection): Link {
  return {
    generation: firstKnown(generationOf(inspection.last(PCI.speedMax)), inspection.last(GPU.linkGenerationMax)),
    width: firstKnown(inspection.last(PCI.widthMax), inspection.last(GPU.linkWidthMax)),
  }
}

/** Speed times width, as a share of the maximum of device and slot. */
function shareOf(inspection: Inspection): number {
  const most = inspection.device.limits.pcie_bytes_per_s ?? Number.NaN
  return firstKnown(
    inspection.last(PCI.bandwidth) / most,
    capacityOf(linkNow(inspection)) / capacityOf(linkMax(inspection)),
  )
}

function capacityOf({ generation, width }: Link): number {
  const speed = GENERATION_TRANSFERS_PER_SECOND[generation - 1]
  // Absent devices report 0, 63 or 255 lanes.
  return speed === undefined || width < 1 || width > 32 ? Number.NaN : speed * width
}

/**
 * Whether lanes are lost, which never happens to save power. If so, the link would be below the maximum of device and
 * slot even at its highest speed.
 */
function hasLostLanes(inspection: Inspection): boolean {
  const { generation, width: widthMax } = linkMax(inspection)
  const { width } = linkNow(inspection)
  const most = inspection.device.limits.pcie_bytes_per_s ?? Number.NaN
  const atBest = bandwidthOf(GENERATION_TRANSFERS_PER_SECOND[generation - 1], width) ?? Number.NaN
  return firstKnown(atBest / most, width / widthMax) < SHARE
}

/**
 * Whether a hardly used GPU may have slowed its link down to save power. So may a GPU that does not report its traffic.
 */
function savesPower(inspection: Inspection): boolean {
  const busier = maxKnown(inspection.mean(GPU.pcieSent), inspection.mean(GPU.pcieReceived))
  return !(busier >= TRAFFIC_BYTES) && !hasLostLanes(inspection)
}

/** The median share of siblings on other cards. Ports of the same card share the link. */
function usualOnOtherCards(inspection: Inspection): number {
  const others = inspection.scope
    .siblings(inspection)
    .filter(({ device }) => slotOf(device) !== slotOf(inspection.device))
  return median(others.map(shareOf))
}

/** Address of a device without its function; its id if it has no address. */
function slotOf({ address, id }: HintDevice): string {
  return address === '' ? id : address.replace(/\.\d$/, '')
}

/** Traffic of the device over its link in both directions. Unit: bytes per second. */
function usedBytes(inspection: Inspection): number {
  if (inspection.device.kind === 'gpu')
    return sumKnown(inspection.mean(GPU.pcieSent), inspection.mean(GPU.pcieReceived))
  return portTraffic(inspection, 3000)
}

function words({ generation, width }: Link): string {
  return `Gen${generation} ×${width}`
}

function ruleFor(of: 'gpu' | 'nic'): HintRule {
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
      'a slot with fewer lanes by design: siblings on other cards run at the same share': (inspection) =>
        usualOnOtherCards(inspection) < SHARE,
    },
    toldApart: ['a host of an older generation: the maximum is the lower of device and slot'],
    find(inspection) {
      const measure = shareMeasure(shareOf(inspection), '<', SHARE, '% of the most')
      if (!isPassed(measure)) return undefined
      const [now, most] = [linkNow(inspection), linkMax(inspection)]
      const usual = usualOnOtherCards(inspection)
      const others = Number.isNaN(usual) ? '' : `, others ${percent(usual)}`
      const used = usedBytes(inspection)
      const moved = Number.isNaN(used) ? '' : `; it moves ${amountWords(used, 'B')}/s in all`
      const stalled = inspection.mean(NIC.writesStalled)
      const effect = stalled > 0.1 ? `, its writes wait ${percent(stalled)} of the time` : ''
      return {
        title: `${hintDeviceTitle(inspection.device)} runs on PCIe ${words(now)} of ${words(most)}`,
        measure,
        sentence: (value, limit) =>
          `${inspection.device.name} has ${value} of its link${others}, ${limit}${moved}${effect}`,
        affected: slowedGpus(inspection),
      }
    },
  }
}

/** The link of a NIC. */
export const nicDowntrainRule = ruleFor('nic')
/** The link of a GPU. */
export const gpuDowntrainRule = ruleFor('gpu')
