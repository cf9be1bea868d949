import { clashOfLimits } from '../../delivery/config.ts'
import { configured } from '../../delivery/connection/check-http.ts'
import { flowBytesOf, isFlowType } from '../../wire/netflow/template.ts'
import type { SinkDefinition } from '../registry.ts'
import { netflowEntries } from './config.ts'
import { collectorSockets, createNetflow } from './netflow.ts'
import { tryCollectors } from './try-collectors.ts'

/** The row of NetFlow and IPFIX. */
export const netflowSink: SinkDefinition<typeof netflowEntries> = {
  name: 'netflow',
  summary: 'Records of flows as NetFlow v9 or IPFIX',
  // The network may reorder packets.
  order: 'none',
  entries: netflowEntries,
  agentEntries: netflowEntries,
  queueIsInMemory: true,
  carries: isFlowType,
  recordBytes: flowBytesOf,
  refuse: clashOfLimits,
  create: (options, { name, types, onLoss }) =>
    createNetflow({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }, types),
  look: (options) => configured(collectorSockets(options).map(({ shown }) => shown)),
  tryConnection: (options) => tryCollectors(collectorSockets(options)),
}
