import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Batch, Labels } from '@sonde/sdk'
import type { Matcher } from '@sonde/sdk/internal'
import { Devices } from '../devices/devices.ts'
import { NodeRecords } from '../devices/test-node-records.ts'
import { netdevCarrierType } from '../sources/netdev/type.ts'
import { Hints } from './hints.ts'

const START_MS = Date.UTC(2026, 0, 1)
const DOWN_AT_S = 30

/** A port of an RDMA device, with the interfaces that it tells. */
interface MadePort {
  readonly device: string
  readonly port: number
  readonly address: string
  readonly netdevs: string
}

/**
 * A node with traffic on all ports and interfaces, on which the carrier of some interfaces goes and comes back; gives
 * the hints.
 */
function flap({
  ports,
  netdevs,
  down,
  times = 1,
  nodes = [{}],
}: {
  readonly ports: readonly MadePort[]
  readonly netdevs: readonly string[]
  readonly down: readonly string[]
  readonly times?: number
  /** Labels of each node to which all of it happens. */
  readonly nodes?: readonly Labels[]
}) {
  let nowMs = START_MS
  const devices = new Devices({ now: () => nowMs })
  const hints = new Hints({ devices })
  const accept = (batch: Batch) => [devices, hints].forEach((sink) => void sink.accept(batch))
  const made = nodes.map((labels) => new NodeRecords({ accept }, labels))
  for (const node of made)
    for (const { address, device } of ports)
      node.pci(address, {
        class: 'network',
        rdma_devices: device,
        netdevs: ports.map((port) => port.netdevs).join(' '),
      })
  for (let second = 0; second < DOWN_AT_S + 10 * times; second++) {
    nowMs = START_MS + second * 1000
    const time = BigInt(nowMs) * 1_000_000n
    const changes = Math.max(0, Math.min(times * 2, Math.floor((second - DOWN_AT_S) / 5) + 1))
    const bytes = second * 1e9
    for (const node of made)
      for (const { device, ...port } of ports)
        node.port(device, { ...port, time, state: 4, xmit_data_bytes_total: bytes, rcv_data_bytes_total: bytes })
    for (const node of made)
      for (const name of netdevs) {
        const isDown = down.includes(name) && changes % 2 === 1
        const up = isDown ? 0 : 1
        const carrier_changes_total = down.includes(name) ? changes : 0
        node.netdev(name, { time, up, carrier: up, tx_bytes_total: bytes })
        node.report(netdevCarrierType, { time, device: name, carrier_changes_total })
      }
    hints.evaluate(nowMs + 100)
    hints.evaluate(nowMs + 600)
  }
  return hints.answer().hints
}

const CARD = { device: 'mlx4_0', address: '0000:a1:00.0' }
const device = (op: Matcher['op'], value: string) => [
  { label: 'device', op, value },
  { label: 'simulated', op: '!=', value: 'true' },
]

test('a flap of the second port of a card is reported for that port, with its interface as evidence', () => {
  const [hint, ...more] = flap({
    ports: [
      { ...CARD, port: 1, netdevs: 'ens5' },
      { ...CARD, port: 2, netdevs: 'ens5d1' },
    ],
    netdevs: ['ens5', 'ens5d1', 'lo'],
    down: ['ens5d1'],
  })
  assert.deepEqual([hint?.id, more], ['link_flap/nic-mlx4_0-2', []])
  assert.deepEqual(
    hint?.evidence.map(({ matchers }) => matchers),
    [device('=', 'ens5d1'), device('=', 'ens5d1')],
  )
})

test('a flap that several interfaces of a port report is one flap, and evidence names only these interfaces', () => {
  const [hint, ...more] = flap({
    ports: [{ device: 'mlx5_3', port: 1, address: '0000:40:05.0', netdevs: 'eth13 eth13.100 eth13.200' }],
    netdevs: ['eth13', 'eth13.100', 'eth13.200', 'eth14'],
    down: ['eth13', 'eth13.100', 'eth13.200'],
  })
  assert.deepEqual([hint?.id, more], ['link_flap/nic-mlx5_3-1', []])
  assert.match(hint?.sentence ?? '', /^mlx5_3 lost its link 1 time in 10 min, limit 1, and is up again$/)
  assert.deepEqual(hint?.evidence[0]?.matchers, device('=~', 'eth13|eth13\\.100|eth13\\.200'))
})

test('an interface that is no hardware of the node has no link to lose, as that of a VM that restarts', () => {
  const hints = flap({
    ports: [{ device: 'mlx5_0', port: 1, address: '0000:14:00.0', netdevs: 'ib0' }],
    netdevs: ['ib0', 'pf0vf1'],
    down: ['pf0vf1'],
    times: 3,
  })
  assert.deepEqual(hints, [])
})

test('a real and a simulated device of one name have evidence of their own', () => {
  const hints = flap({
    ports: [{ ...CARD, port: 1, netdevs: 'ens5' }],
    netdevs: ['ens5'],
    down: ['ens5'],
    nodes: [{}, { simulated: 'true' }],
  })
  const shown = new Map(hints.map(({ device, evidence }) => [device, evidence[0]?.matchers]))
  assert.deepEqual(shown.get('nic-mlx4_0-1'), device('=', 'ens5'))
  assert.deepEqual(shown.get('sim-nic-mlx4_0-1'), [
    { label: 'device', op: '=', value: 'ens5' },
    { label: 'simulated', op: '=', value: 'true' },
  ])
})
