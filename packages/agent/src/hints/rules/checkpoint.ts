import { LATEST_MS, type Look } from '../look/look.ts'
import { median } from '../look/numbers.ts'
import { jobGpus, storageBytes, usualRailUse } from '../look/workload.ts'
import { GPU, NIC } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { amount, percent } from './words.ts'

const COPY_BYTES = 2e9
const GPU_SHARE = 7 / 8
const LINE_SHARE = 0.01
const UTILISATION = 50

/** Work sends to the host about as much as it gets from there: what is left of it in a sample is no copy. */
function isCopied(look: Look): boolean {
  const sent = look.last(GPU.pcieSent)
  return sent > COPY_BYTES && !(look.last(GPU.pcieReceived) > sent / 2)
}

/** A label rather than an alarm: the node writes its state away. */
export const checkpoint: Rule = {
  name: 'checkpoint',
  sees: 'All GPUs stand still while memory is copied to the host: the job writes a checkpoint.',
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
  ],
  not: {
    'a collective that hangs: use stays at 100 % and nothing is copied': ({ scope }) =>
      median(scope.gpus.map((look) => look.last(GPU.utilisation))) > UTILISATION,
  },
  toldApart: [
    'a wait for data: nothing is copied to the host',
    'work that ends within a sample: as much comes from the host as goes there',
  ],
  find({ scope }) {
    const job = jobGpus(scope)
    const use = usualRailUse(scope, LATEST_MS)
    if (job.length === 0 || use > LINE_SHARE) return undefined
    const copying = job.filter(isCopied)
    const isCopying = copying.length >= GPU_SHARE * job.length
    // Storage is still written when the copies are done.
    if (!isCopying && !scope.isOpen('checkpoint', scope.node)) return undefined
    // Of now: what they sent before was the traffic of their work.
    const bytes = median(copying.map((look) => look.last(GPU.pcieSent)))
    const copies = isCopying
      ? `${job.length} GPUs copy ${amount(bytes, 'B')}/s each to the host, limit ${amount(COPY_BYTES, 'B')}/s`
      : `${job.length} GPUs have copied to the host and stand still`
    const storage = storageBytes(scope)
    const written = storage > 0 ? `; ${amount(storage, 'B')}/s to storage` : ''
    return {
      device: scope.node,
      affected: job.map(({ device }) => device),
      title: 'A checkpoint is being written',
      sentence: `${copies}, with the rails at ${percent(Number.isNaN(use) ? 0 : use)} of line${written}`,
      value: isCopying ? bytes : 0,
      limit: COPY_BYTES,
      unit: 'bytes/s',
    }
  },
}
