import type { Inspection } from '../inspection/inspection.ts'
import { firstKnown, median } from '../inspection/numbers.ts'
import { together } from '../inspection/together.ts'
import { jobGpus, railUse, storageBytes } from '../inspection/workload.ts'
import { GPU, NIC } from '../watch/signals.ts'
import { shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle, percent } from './words.ts'

const UTILISATION = 95
const POWER_SHARE = 0.35
const TENSOR_MAX = 0.01
const DRAM_MAX = 0.1
const LINE_SHARE = 0.001
const OVER_MS = 1000
const STORAGE_BYTES = 1e9

/** The default limit of the board. The current limit may have been lowered, which would make every share look high. */
function boardLimit(inspection: Inspection): number {
  return firstKnown(inspection.last(GPU.powerLimitDefault), inspection.last(GPU.powerLimit))
}

/** Whether a GPU runs a kernel all the time without computing. */
function isSpinning(inspection: Inspection): boolean {
  return (
    inspection.min(GPU.utilisation, OVER_MS) >= UTILISATION &&
    inspection.last(GPU.power) < POWER_SHARE * boardLimit(inspection) &&
    !(inspection.max(GPU.tensorActive, OVER_MS) >= TENSOR_MAX)
  )
}

/** A collective that never ends. */
export const stuckCollectiveRule: HintRule = {
  name: 'stuck_collective',
  sees: 'All GPUs of a job run a kernel all the time, draw little power, compute nothing and send nothing: they wait for one another.',
  severity: 'critical',
  of: 'node',
  neededMs: 30_000,
  uses: [
    GPU.utilisation,
    GPU.power,
    GPU.powerLimit,
    GPU.powerLimitDefault,
    GPU.tensorActive,
    GPU.dramActive,
    NIC.sentBytes,
  ],
  shows: [GPU.utilisation, GPU.tensorActive, GPU.power, NIC.sentBytes],
  limits: [
    { what: 'utilisation', value: UTILISATION, unit: '% or more', source: 'a waiting kernel counts as use' },
    { what: 'power', value: POWER_SHARE * 100, unit: '% of the board’s limit', source: 'spinning takes 0.2 to 0.3' },
    { what: 'tensor active', value: TENSOR_MAX * 100, unit: '%', source: 'nothing is computed' },
    { what: 'sent on any rail', value: LINE_SHARE * 100, unit: '% of line', source: 'ByteRobust: no RDMA traffic' },
  ],
  not: {
    'communication between computations: the rails are busy': ({ scope }) => railUse(scope, OVER_MS) >= LINE_SHARE,
    'a checkpoint: storage is busy': ({ scope }) => storageBytes(scope) > STORAGE_BYTES,
    'decoding at low load: memory is read': ({ scope }) =>
      median(scope.gpus.map((inspection) => inspection.max(GPU.dramActive, OVER_MS))) > DRAM_MAX,
  },
  toldApart: ['a wait for data: use falls too', 'an idle node: no kernel runs'],
  explainedBy: {
    ecc_uncorrected: 'node',
    gpu_error: 'node',
    gpu_lost: 'node',
    link_flap: 'node',
    checkpoint: 'node',
    retransmission_storm: 'node',
    pfc_victim: 'node',
    pfc_source: 'node',
  },
  lacksAlways: ['processes and their ranks'],
  find({ scope }) {
    const { inspections: job } = together(jobGpus(scope), GPU.utilisation, OVER_MS)
    const spinning = job.filter(isSpinning)
    const silent = job.filter((inspection) => inspection.last(GPU.utilisation) < 1)
    // The others wait for the GPU that runs no kernel.
    if (spinning.length < 2 || spinning.length + silent.length < job.length || silent.length > 1) return undefined
    const use = railUse(scope, OVER_MS)
    if (use >= LINE_SHARE) return undefined
    const [culprit] = silent
    const power = median(spinning.map((inspection) => inspection.last(GPU.power) / boardLimit(inspection)))
    const tensor = median(spinning.map((inspection) => inspection.last(GPU.tensorActive)))
    const also = [
      Number.isNaN(tensor) ? '' : `, tensor active ${percent(tensor)}`,
      Number.isNaN(use) ? '' : `, rails at ${percent(use)} of line`,
    ].join('')
    return {
      device: culprit?.device ?? scope.node,
      affected: spinning.map(({ device }) => device),
      title:
        culprit === undefined
          ? 'All GPUs wait, none computes'
          : `All other GPUs wait for ${hintDeviceTitle(culprit.device)}`,
      measure: shareMeasure(power, '<', POWER_SHARE, '% of power limit'),
      sentence: (value, limit) =>
        `${spinning.length} GPUs are in use all the time and draw ${value} of their power limit, ${limit}${also}`,
    }
  },
}
