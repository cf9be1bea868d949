import { checkOptions } from '../../config/check-options.ts'
import { Endpoints } from '../../delivery/connection/endpoints.ts'
import { RateLimit } from '../../delivery/connection/rate-limit.ts'
import { socketAddresses } from '../../delivery/connection/socket-address.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { processTimers, type Timers } from '../../internal/timers.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { droppedTotal } from '../../sink/sink.ts'
import { bootMs, uptimeMs } from '../../source/uptime.ts'
import { FlowPackets, type PacketTime, RESERVED_IDS } from '../../wire/netflow/packets.ts'
import { FlowTemplates } from '../../wire/netflow/templates.ts'
import { BATCH_BYTES_MAX, type CollectorOptions, collectorEntries, type NetflowOptions } from './config.ts'
import { CollectorSocket } from './endpoint.ts'
import { FlowExporter, type FlowRequest } from './exporter.ts'

/** Half the range of a 32-bit uptime: a time further ahead is from before it began anew. */
const HALF_UPTIME_MS = 2 ** 31

/**
 * Sends records to collectors of NetFlow v9 or IPFIX over UDP: records of types with fields made by {@link element}.
 *
 * @param types Types that are known before the first record: these are checked now.
 * @throws SondeError `NFL_OPTION` for an option that is not allowed, `DLV_OPTION` for a limit out of range,
 * `NFL_TEMPLATE` if a packet cannot hold the template and one record of a type.
 */
export function createNetflow(options: NetflowOptions, types: readonly RecordType[] = []): DeliverySink {
  const { timers = processTimers } = options
  const collector = checkOptions(collectorEntries, options, 'NFL_OPTION', ' of netflow')
  const templates = new FlowTemplates(collector, RESERVED_IDS)
  for (const type of types) templates.check(type)
  const rate = new RateLimit(collector.rateLimitBytesPerSecond, timers)
  const notSent = (): number => droppedTotal(sink.stats)
  const sockets = collectorSockets(collector, timers)
  const [first, ...further] = sockets
  const time = (): PacketTime => ({ nowMs: timers.nowMs(), wallMs: Date.now(), bootMs: bootMs() })
  const exporterTo = (socket: CollectorSocket) =>
    new FlowExporter(socket, new FlowPackets(collector), { rate, time, notSent })
  const endpoints = new Endpoints<FlowExporter>([exporterTo(first), ...further.map(exporterTo)], timers)
  const sink = delivery<FlowRequest>({
    name: 'netflow',
    batchBytesMax: BATCH_BYTES_MAX,
    ...options,
    encode(batches) {
      const boot = { bootMs: bootMs(), uptimeMsMax: (uptimeMs() % 2 ** 32) + HALF_UPTIME_MS }
      const chunks = batches.flatMap((batch) => templates.encode(batch, boot))
      return chunks.length === 0 ? undefined : { chunks, position: { chunk: 0, record: 0 } }
    },
    send: endpoints.send((request, exporter, signal) => exporter.send(request, signal)),
    waitMs: () => rate.waitMs,
    close: () => {
      for (const socket of sockets) socket.close()
    },
  })
  return sink
}

/** The sockets to the collectors of a destination, the preferred collector first. */
export function collectorSockets(
  options: CollectorOptions,
  timers: Timers = processTimers,
): readonly [CollectorSocket, ...CollectorSocket[]] {
  const { host = '', port = 0, endpoints, localPort } = options
  const [first, ...further] = socketAddresses({ host, port }, endpoints)
  const open = (address: typeof first, own?: number) => new CollectorSocket(address, own, timers)
  // Only one socket can have the port that was asked for.
  return [open(first, localPort), ...further.map((address) => open(address))]
}
