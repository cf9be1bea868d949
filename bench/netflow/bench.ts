import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { createNetflow } from '../../packages/sdk/src/sinks/netflow/netflow.ts'
import { FlowPackets, RESERVED_IDS } from '../../packages/sdk/src/wire/netflow/packets.ts'
import { FlowTemplates } from '../../packages/sdk/src/wire/netflow/templates.ts'
import { Nfcapd } from '../../test/interop/flow-peers.ts'
import { temporaryDir, until } from '../../test/sonde-process.ts'
import { atLeast, type BenchResult, median } from '../bench.ts'
import { builtPackets, FLOW_BYTES } from './rival.ts'
import { FLOWS, plainFlows, sampleBatch } from './sample.ts'

const WARM_ROUNDS = 4
/** Batches in a turn of encoding and of sending. */
const ENCODED_BATCHES = 50
const SENT_BATCHES = 10
const TEMPLATE_ID = 257
const OPTIONS = {
  protocol: 'v9',
  domainId: 111,
  packetBytesMax: 1452,
  templateRefreshPackets: 20,
  templateRefreshMs: 30_000,
  statistics: false,
  variableLength: false,
} as const
const TIME = { nowMs: 0, wallMs: 1_800_000_000_000, bootMs: 1_799_999_000_000 }
const batch = sampleBatch()
const templates = new FlowTemplates(OPTIONS, RESERVED_IDS)
const packets = new FlowPackets(OPTIONS)

/** Encodes the batch, and gives each packet, which is valid until the next. */
function encode(use: (packet: Uint8Array) => void): void {
  const chunks = templates.encode(batch, { bootMs: TIME.bootMs, uptimeMsMax: 2 ** 32 })
  for (let position = { chunk: 0, record: 0 }; position.chunk < chunks.length; ) {
    use(packets.next(chunks, position, TIME, 0))
    position = packets.sent() ?? position
  }
}

/** The records in the sets of data, one behind the other. */
function recordsOf(all: readonly Uint8Array[]): Buffer {
  const records = all.flatMap((packet) => {
    const view = Buffer.from(packet.buffer, packet.byteOffset, packet.length)
    const found: Buffer[] = []
    for (let at = 20; at < view.length; at += view.readUInt16BE(at + 2)) {
      const [id, bytes] = [view.readUInt16BE(at), view.readUInt16BE(at + 2)]
      if (id === TEMPLATE_ID) found.push(view.subarray(at + 4, at + 4 + bytes - 4 - ((bytes - 4) % FLOW_BYTES)))
    }
    return found
  })
  return Buffer.concat(records)
}

/** Time of a turn. Unit: nanoseconds a flow. */
function timeOf(flows: number, run: () => void): number {
  const startMs = performance.now()
  run()
  return ((performance.now() - startMs) * 1e6) / flows
}

/** Processor time of a turn. Unit: nanoseconds a flow. */
async function costOf(flows: number, run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / flows
}

async function sendBare(socket: Socket, datagrams: readonly Buffer[]): Promise<void> {
  for (const datagram of datagrams)
    await new Promise<void>((resolve, reject) => {
      socket.send(datagram, (error) => (error === null ? resolve() : reject(error)))
    })
}

/** How fast flows are encoded and sent; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const datagrams: Buffer[] = []
  encode((packet) => datagrams.push(Buffer.from(packet)))
  if (!recordsOf(datagrams).equals(recordsOf([...builtPackets(plainFlows, TEMPLATE_ID)])))
    throw new Error('Sonde and the builder have encoded different records')
  const ends: (() => unknown)[] = []
  const start = (): Promise<Nfcapd> => {
    const { path, remove } = temporaryDir()
    ends.unshift(remove)
    return Nfcapd.start({ after: (end: () => unknown) => ends.unshift(end) } as never, path)
  }
  const [nfcapd, rivals] = [await start(), await start()]
  const bare = createSocket('udp4')
  ends.unshift(() => bare.close())
  bare.connect(rivals.port, '127.0.0.1')
  await once(bare, 'connect')
  const sink = createNetflow({ port: nfcapd.port, domainId: 111, lingerMs: 0, rateLimitBytesPerSecond: 2 ** 40 })
  ends.unshift(() => sink.close())
  try {
    const measured: Round[] = []
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      const encoded = timeOf(ENCODED_BATCHES * FLOWS, () => {
        for (let i = 0; i < ENCODED_BATCHES; i++) encode(() => undefined)
      })
      const built = timeOf(ENCODED_BATCHES * FLOWS, () => {
        for (let i = 0; i < ENCODED_BATCHES; i++) for (const _ of builtPackets(plainFlows, TEMPLATE_ID));
      })
      const sent = await costOf(SENT_BATCHES * FLOWS, async () => {
        for (let i = 0; i < SENT_BATCHES; i++) sink.accept(batch)
        await sink.flush()
      })
      await until('nfcapd has read everything', 60_000, () => nfcapd.isRead)
      const bareSent = await costOf(SENT_BATCHES * FLOWS, async () => {
        for (let i = 0; i < SENT_BATCHES; i++) await sendBare(bare, datagrams)
      })
      await until('the other nfcapd has read everything', 60_000, () => rivals.isRead)
      if (round >= 0) measured.push({ encoded, built, sent, bareSent })
    }
    await nfcapd.stop()
    return resultOf(measured, sink.stats.out, nfcapd.counts)
  } finally {
    for (const end of ends) await end()
  }
}

/** What a flow costs in a round. Unit: nanoseconds. */
interface Round {
  readonly encoded: number
  readonly built: number
  readonly sent: number
  readonly bareSent: number
}

function resultOf(measured: readonly Round[], sent: number, counts: Nfcapd['counts']): BenchResult {
  const of = (figure: (round: Round) => number) => median(measured.map(figure))
  const encode = of(({ encoded, built }) => built / encoded)
  const send = of((round) => round.bareSent / round.sent)
  const isWhole = counts.flows === sent && counts.sequenceErrors === 0
  return {
    figures: [
      { name: 'encode: Sonde', value: of(({ encoded }) => encoded), unit: 'ns a flow' },
      { name: 'encode: builder of Buffer.writeX', value: of(({ built }) => built), unit: 'ns a flow' },
      { name: 'encode against the builder', value: encode, unit: 'x', gate: atLeast(encode, 3) },
      { name: 'send: Sonde with its queue', value: of((round) => round.sent), unit: 'ns a flow' },
      { name: 'send: bare dgram', value: of(({ bareSent }) => bareSent), unit: 'ns a flow' },
      { name: 'send against bare dgram', value: send, unit: 'x', gate: atLeast(send, 0.3) },
      {
        name: 'flows that nfcapd counted, of those sent',
        value: counts.flows / sent,
        unit: 'ratio',
        gate: `all, no failure of the sequence: ${isWhole ? 'met' : 'missed'}`,
      },
    ],
    lines: [
      `nfcapd counted ${counts.flows} of ${sent} flows, ${counts.sequenceErrors} failures of the sequence, ` +
        `${counts.badPackets} bad packets.`,
    ],
  }
}
