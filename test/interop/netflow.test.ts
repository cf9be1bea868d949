// Flows at three independent collectors, which get the same packets: each has all records with their values.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  counter,
  createSchema,
  defineType,
  element,
  optional,
  type Schema,
  timestamp,
  uptimeMs,
  value,
  wallNs,
} from '@sonde/sdk'
import { FlowDecoder } from '../../packages/sdk/test/flow-decoder.ts'
import { needs } from '../debian.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { FlowTee, Nfcapd } from './flow-peers.ts'

const FLOWS = 500
/** Packets until the next template. */
const REFRESH = 4

const flow4 = defineType('flow4', 'A flow over IPv4', {
  time: timestamp(),
  from: element('IPV4_SRC_ADDR'),
  to: element('IPV4_DST_ADDR'),
  source_port: element('L4_SRC_PORT'),
  destination_port: element('L4_DST_PORT'),
  protocol: element('PROTOCOL'),
  bytes: element('IN_BYTES', counter('u64')),
  packets: element('IN_PKTS', counter('u64')),
  first: element('FIRST_SWITCHED'),
  last: element('LAST_SWITCHED'),
  tos: optional(element('SRC_TOS')),
})
const flow6 = defineType('flow6', 'A flow over IPv6', {
  time: timestamp(),
  from: element('IPV6_SRC_ADDR'),
  to: element('IPV6_DST_ADDR'),
  source_port: element('L4_SRC_PORT'),
  destination_port: element('L4_DST_PORT', value('u16')),
  protocol: element('PROTOCOL'),
  bytes: element('IN_BYTES', counter('u32')),
  packets: element('IN_PKTS', counter('u32')),
})

function folder(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return path
}

const bytesOf = (i: number) => (i % 2 === 0 ? 2 ** 40 + i : 1000 + i)

/** Reports {@link FLOWS} flows in turns of both types; returns when each flow began, by its port. */
async function reportFlows(schema: Schema): Promise<ReadonlyMap<number, number>> {
  for (const type of [flow4, flow6]) schema.addType(type)
  await schema.start()
  const source = schema.createSource({ tag: 'flows', flushIntervalMs: 0 })
  const began = new Map<number, number>()
  for (let i = 0; i < FLOWS; i++) {
    const ports = { source_port: 10_000 + i, destination_port: 443, protocol: 6, packets: i + 1 }
    const last = uptimeMs()
    const first = Math.max(0, last - 1000 - i)
    began.set(10_000 + i, Date.now() - (last - first))
    if (i % 2 === 0) {
      const tos = i % 4 === 0 ? 8 : undefined
      const from = `192.0.2.${i % 250}`
      source.report(flow4, { time: wallNs(), from, to: '198.51.100.7', ...ports, bytes: bytesOf(i), first, last, tos })
    } else {
      const from = `2001:db8::${i.toString(16)}`
      source.report(flow6, { time: wallNs(), from, to: '2001:db8:1::7', ...ports, bytes: bytesOf(i) })
    }
    if (i % 50 === 49) await source.flush()
  }
  await schema.flush()
  return began
}

for (const protocol of ['v9', 'ipfix'] as const) {
  test(
    `nfcapd, nfacctd and tshark read every flow of ${protocol} with its values, and miss no packet`,
    needs('nfcapd', 'nfdump', 'nfacctd', 'tshark'),
    async (t) => {
      const dir = folder(t)
      const nfcapd = await Nfcapd.start(t, dir)
      const tee = await FlowTee.start(t, [nfcapd.port])
      const schema = createSchema({ name: 'flows', export: { netflow: { port: tee.port, protocol, domainId: 7 } } })
      t.after(() => schema.close())
      const began = await reportFlows(schema)
      assert.equal(schema.status().sinks[0]?.stats.out, FLOWS)

      const byPort = (a: string, b: string) => a.localeCompare(b)
      const wanted = Array.from({ length: FLOWS }, (_, i) => {
        const from = i % 2 === 0 ? `192.0.2.${i % 250}` : `2001:db8::${i.toString(16)}`
        return [10_000 + i, from, i % 2 === 0 ? '198.51.100.7' : '2001:db8:1::7', i + 1, bytesOf(i)].join(' ')
      })
      await until('all packets have come', 10_000, () => nfcapd.isRead && tee.packets.length >= 20)
      const printed = await nfcapd.flows()
      assert.deepEqual(nfcapd.counts, { flows: FLOWS, sequenceErrors: 0, badPackets: 0 })
      assert.deepEqual(
        printed
          .map((each) => {
            const [from, to] = [each.src4_addr ?? each.src6_addr, each.dst4_addr ?? each.dst6_addr]
            return [each.src_port, from, to, each.in_packets, each.in_bytes].join(' ')
          })
          .sort(byPort),
        wanted,
        'nfdump',
      )
      const pmacct = await tee.nfacctd(dir, 'src_host, dst_host, src_port, dst_port, proto', FLOWS)
      assert.deepEqual(
        pmacct
          .map((each) => [each.port_src, each.ip_src, each.ip_dst, each.packets, each.bytes].join(' '))
          .sort(byPort),
        wanted,
        'nfacctd',
      )
      for (const { src_port, src4_addr, first } of printed) {
        if (src4_addr === undefined) continue
        const errorMs = Math.abs(Date.parse(`${first}Z`) - (began.get(Number(src_port)) ?? 0))
        assert.ok(errorMs < 50, `a flow began ${errorMs} ms from its time`)
      }
      const packets = tee.tshark(dir, ['cflow.srcport', 'cflow.packets', 'cflow.octets'])
      assert.equal(packets.length, tee.packets.length)
      const read = packets.flatMap((columns) => {
        const [ports = [], counts = [], bytes = []] = columns.map((text) => text.split(',').filter(Boolean))
        return ports.map((port, i) => [port, counts[i], bytes[i]].join(' '))
      })
      const values = wanted.map((line) => {
        const [port, , , counts, bytes] = line.split(' ')
        return [port, counts, bytes].join(' ')
      })
      assert.deepEqual(read.sort(byPort), values, 'tshark')
      assert.ok(tee.packets.every(({ length }) => length <= 1452))
    },
  )
}

test(
  'nfcapd loses records only until the next template, if it lost the first or starts again; none if the exporter does',
  needs('nfcapd', 'nfdump'),
  async (t) => {
    const nfcapd = await Nfcapd.start(t, folder(t))
    const tee = await FlowTee.start(t, [nfcapd.port])
    const decoder = new FlowDecoder()
    let [sent, decoded, knownPackets] = [0, 0, 0]
    const start = async (): Promise<(flows: number) => Promise<number>> => {
      const netflow = { port: tee.port, domainId: 7, templateRefreshPackets: REFRESH }
      const schema = createSchema({ name: 'flows', export: { netflow } })
      t.after(() => schema.close())
      schema.addType(flow6)
      await schema.start()
      const source = schema.createSource({ tag: 'flows', flushIntervalMs: 0 })
      // Sends one flow a packet. Returns how many of them nobody could decode.
      return async (flows) => {
        for (let i = 0; i < flows; i++) {
          const ends = { from: '2001:db8::1', to: '2001:db8:1::7', source_port: sent++, destination_port: 443 }
          source.report(flow6, { time: wallNs(), ...ends, protocol: 6, packets: 1, bytes: 1 })
          await schema.flush()
        }
        await until('its packets have come', 10_000, () => nfcapd.isRead && seen >= sent)
        const before = decoded
        for (const packet of tee.packets.slice(knownPackets)) decoded += decoder.decode(packet).length
        knownPackets = tee.packets.length
        return flows - (decoded - before)
      }
    }
    // Packets with records that came to the tee, and whether it loses the next packets.
    let [seen, isLossy] = [0, true]
    tee.loses = (packet) => {
      const hasRecord = setsOf(packet).some((id) => id >= 256)
      if (hasRecord) seen++
      const isLost = isLossy
      // The template alone, and the template before the first record.
      if (hasRecord) isLossy = false
      return isLost
    }
    const send = await start()
    assert.equal(await send(REFRESH + 5), REFRESH)
    await nfcapd.stop()
    await nfcapd.listen()
    decoder.templates.clear()
    const lost = await send(REFRESH * 2)
    assert.ok(lost > 0 && lost < REFRESH, `${lost} lost`)
    assert.equal(await (await start())(3), 0)
    const printed = await nfcapd.flows()
    assert.deepEqual(
      [printed.length, sent - printed.length, nfcapd.counts.flows],
      [decoded, REFRESH + lost, decoded],
      'nfcapd has every flow but those without template',
    )
  },
)

/** The ids of the sets in a packet of NetFlow v9. */
function setsOf(packet: Buffer): readonly number[] {
  const ids: number[] = []
  for (let at = 20; at < packet.length; at += packet.readUInt16BE(at + 2)) ids.push(packet.readUInt16BE(at))
  return ids
}
