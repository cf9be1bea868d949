import { type Inspection, LATEST_MS } from '../inspection/inspection.ts'
import { median } from '../inspection/numbers.ts'
import { together } from '../inspection/together.ts'
import { jobGpus, storageBytes, usualRailUse } from '../inspection/workload.ts'
import { GPU, NIC } from '../watch/signals.ts'
import { bytesMeasure, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, percent } from './words.ts'

const COPY_BYTES = 2e9
const GPU_SHARE = 7 / 8
const LINE_SHARE = 0.01
const UTILISATION = 50

/** Work sends about as much to the host as it receives from it. A copy is mostly one-way. */
function isCopied(inspection: Inspection): boolean {
  const sent = inspection.last(GPU.pcieSent)
  return sent > COPY_BYTES && !(inspection.last(GPU.pcieReceived) > sent / 2)
}

/** A label rather than an alarm: the node writes its state to storage. */
export const checkpointRule: HintRule = {
  name: 'checkpoint',
  sees: 'All GPUs are idle while memory is copied to the host: the job writes a checkpoint.',
  severity: 'notice',
  of: 'node',
  neededMs: 0,
  uses: [GPU.pcieSent, GPU.pcieReceived, GPU.utilisation, GPU.migMode, NIC.sentBytes],
  shows: [GPU.pcieSent, GPU.utilisation, NIC.sentBytes],
  limits: [
    {
      what: 'copies to the host',
      value: COPY_BYTES / 1e9,
      unit: 'GB/s on 7 of 8 GPUs',
      source: '30 GB a GPU in 1.5 to 6 s',
    },
    { what: 'sent on most rails', value: LINE_SHARE * 100, unit: '% of line', source: 'training stands still' },
    { what: 'utilisation after the copies', value: UTILISATION, unit: '%', source: 'storage is still written' },
  ],
  not: {
    'a hanging collective: use stays at 100 % and nothing is copied': ({ scope }) =>
      median(scope.gpus.map((inspection) => inspection.last(GPU.utilisation))) > UTILISATION,
  },
  toldApart: [
    'a wait for data: nothing is copied to the host',
    'work that ends within a sample: it copies as much from the host as to it',
  ],
  find({ scope }) {
    const { inspections: job } = together(jobGpus(scope), GPU.pcieSent, LATEST_MS)
    const use = usualRailUse(scope, LATEST_MS)
    if (job.length === 0 || use > LINE_SHARE) return undefined
    const copying = job.filter(isCopied)
    const isCopying = copying.length >= GPU_SHARE * job.length
    // Storage is still written after the copies have finished.
    if (!isCopying && !scope.isOpen('checkpoint', scope.node)) return undefined
    const storage = storageBytes(scope)
    const rails = Number.isNaN(use) ? '' : `, with the rails at ${percent(use)} of line`
    const rest = `${rails}${storage > 0 ? `; ${amountWords(storage, 'B')}/s to storage` : ''}`
    const found = {
      device: scope.node,
      affected: job.map(({ device }) => device),
      title: 'A checkpoint is being written',
    }
    // Only the current rate: before the copies, the GPUs sent the traffic of their work.
    if (isCopying)
      return {
        ...found,
        measure: bytesMeasure(median(copying.map((inspection) => inspection.last(GPU.pcieSent))), '>', COPY_BYTES),
        sentence: (value, limit) => `${copying.length} GPUs copy ${value} each to the host, ${limit}${rest}`,
      }
    const used = median(job.map((inspection) => inspection.last(GPU.utilisation)))
    return {
      ...found,
      measure: shareMeasure(used / 100, '<=', UTILISATION / 100, '% of time'),
      sentence: (value, limit) =>
        `${job.length} GPUs have copied to the host and are idle: in use ${value} of the time, ${limit}${rest}`,
    }
  },
}
