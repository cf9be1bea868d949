import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Batch, createSource, type Labels, type RecordOf, readRecords, type Source, viewsOf } from '@sonde/sdk'
import { createOwnSource, markType } from '@sonde/sdk/internal'
import { hostCpuPackageType, hostDiskType, hostMemoryControllerType } from '../sources/host/type.ts'
import { netdevCarrierType, netdevType } from '../sources/netdev/type.ts'
import { nvmlProfileType } from '../sources/nvml/type.ts'
import { pciAerType } from '../sources/pci/type.ts'
import { rdmaHwType } from '../sources/rdma/type.ts'
import { type HintDevice, whichNode } from './device.ts'
import { Hints, type RuleFailed } from './hints.ts'
import { RULES } from './rules/index.ts'
import { countMeasure } from './rules/measure.ts'
import type { HintRule } from './rules/rule.ts'
import { quietNode, TrainingNode } from './test-training-node.ts'
import { GPU } from './watch/signals.ts'

const NOT_SIMULATED = { label: 'simulated', op: '!=', value: 'true' }
const NOBODY = { version: 0, own: () => [], deviceOf: () => undefined }

const loseOn = (node: TrainingNode, index: number, perS: number) => node.nic(index).rate({ packet_seq_err_total: perS })

describe('missing values fire no rule:', () => {
  test('counters that restart', () => {
    const node = quietNode()
    const seen = node.run(30, (second) => {
      if (second % 7 === 0) for (const device of [...node.gpus, ...node.nics]) device.reset()
    })
    assert.deepEqual([...seen], [])
  })

  test('counters that jump by 2^32', () => {
    const node = quietNode()
    const seen = node.run(30, (second) => {
      if (second !== 3) return
      for (const nic of node.nics)
        nic.add({
          packet_seq_err_total: 2 ** 32,
          xmit_data_bytes_total: 2 ** 32,
          rx_pause_seconds_total: 2 ** 32,
          tx_pause_seconds_total: 2 ** 32,
        })
      for (const gpu of node.gpus)
        gpu.add({ thermal_violation: 2 ** 32, clocks_event_reason_hw_power_brake_slowdown_ns: 2 ** 32 })
    })
    assert.deepEqual([...seen], [])
  })

  test('a pause of all records, of a minute', () => {
    const node = quietNode()
    for (let second = 0; second < 60; second++) {
      node.nowMs += 1000
      node.hints.evaluate(node.nowMs)
      assert.deepEqual(node.shown(), [])
    }
    assert.deepEqual([...node.run(30)], [])
  })

  for (const stepMs of [3_600_000, -3_600_000, 20_000, -20_000, 400, -400]) {
    test(`a clock that steps by ${stepMs / 1000} s`, () => {
      const node = quietNode()
      node.nowMs += stepMs
      for (let i = 0; i < 6; i++) node.hints.evaluate(node.nowMs + i * 500)
      assert.deepEqual([...node.run(60)], [])
    })
  }

  test('values that are absent, all at once', () => {
    const node = quietNode()
    for (const device of [...node.gpus, ...node.nics]) {
      for (const { type, rates, values } of device.series.values()) {
        for (const { name, field } of type.layout.slots) {
          if (!field.optional) continue
          delete rates[name]
          delete values[name]
        }
      }
    }
    assert.deepEqual([...node.run(30)], [])
  })

  test('a device that is idle from the start', () => {
    const node = new TrainingNode()
    for (const nic of node.nics)
      nic.rate({
        xmit_data_bytes_total: 4e4,
        rcv_data_bytes_total: 4e4,
        xmit_packets_total: 50,
        rcv_packets_total: 50,
        np_ecn_marked_roce_packets_total: 0,
      })
    for (const gpu of node.gpus)
      gpu.set({
        gpu_util: 0,
        sm_active: 0,
        pipe_tensor_active: 0,
        dram_active: 0,
        power_usage: 70,
        pcie_tx_bytes: 0,
        pcie_rx_bytes: 0,
        pcie_link_gen: 1,
      })
    assert.deepEqual([...node.run(60)], [])
  })
})

test('a step of the clock neither hides, confirms nor ends a fault', () => {
  const node = quietNode()
  loseOn(node, 3, 2400)
  node.run(2)
  assert.deepEqual(node.shown(), ['retransmission_storm/nic-mlx5_3-1 forming critical'])
  node.nowMs += 3_600_000
  node.hints.evaluate(node.nowMs)
  assert.deepEqual(node.shown(), ['retransmission_storm/nic-mlx5_3-1 forming critical'])
  node.run(6)
  assert.deepEqual(node.shown(), ['retransmission_storm/nic-mlx5_3-1 standing critical'])
})

test('a fault of one second alone opens nothing', () => {
  const node = quietNode()
  node.nic(3).rate({ rx_pause_seconds_total: 0.55 })
  const seen = node.run(1)
  node.nic(3).rate({ rx_pause_seconds_total: 0.002 })
  assert.deepEqual([...seen, ...node.run(20)], [])
})

test('an ended hint is listed for an hour with its end, and past means did not move meanwhile', () => {
  const node = quietNode()
  loseOn(node, 3, 2400)
  node.run(20)
  loseOn(node, 3, 0)
  node.run(22)
  const { hints, ended, nowMs } = node.hints.answer()
  assert.deepEqual(hints, [])
  assert.equal(ended.length, 1)
  assert.equal(ended[0]?.id, 'retransmission_storm/nic-mlx5_3-1')
  assert.ok((ended[0]?.endedMs ?? 0) > (ended[0]?.sinceMs ?? 0) + 15_000 && (ended[0]?.endedMs ?? 0) <= nowMs)
  node.hints.evaluate(node.nowMs + 3_700_000)
  assert.deepEqual(node.hints.answer().ended, [])
})

test('the worst hint comes first, and confirmed hints come before forming hints', () => {
  const node = quietNode()
  node.nic(4).rate({ np_ecn_marked_roce_packets_total: 0.5e6 })
  node.run(15)
  node.gpu(0).set({ row_remap_pending: 1 })
  node.run(2)
  node.gpu(7).add({ ecc_dbe_vol_total: 1 })
  node.run(1)
  assert.deepEqual(node.shown(), [
    'ecc_uncorrected/gpu-7 standing critical',
    'congestion/nic-mlx5_4-1 standing warning',
    'ecc_pending/gpu-0 forming warning',
  ])
})

test('the life of a hint is reported as marks of one event, and hints are counted by rule and severity', () => {
  const node = quietNode()
  for (const perS of [2400, 0, 2400]) {
    loseOn(node, 3, perS)
    node.run(22)
  }
  const batches: Batch[] = []
  const source = createSource({ id: 'self', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  node.hints.report(source)
  source.collect()
  const marks = batches
    .filter(({ type }) => type === markType)
    .flatMap(({ bytes, count, symbols }) => [...readRecords(markType, viewsOf(bytes), count, symbols)])
  assert.deepEqual(
    marks.map(({ rule, device, edge }) => `${rule} ${device} ${edge}`),
    ['opened', 'confirmed', 'peak', 'ended', 'opened', 'confirmed'].map(
      (edge) => `retransmission_storm nic-mlx5_3-1 ${edge}`,
    ),
  )
  const events = marks.map(({ event }) => event)
  assert.equal(new Set(events.slice(0, 4)).size, 1)
  assert.ok((events[4] ?? 0n) > (events[0] ?? 0n))
  const [, , peak, ended] = marks
  assert.ok(peak !== undefined && ended !== undefined && peak.time < ended.time)
  assert.ok((peak.value ?? 0) >= (ended.value ?? 0) && peak.unit !== '' && peak.summary !== '')
  const [counts] = batches.filter(({ type }) => type.name === 'sonde_hints')
  assert.ok(counts)
  const rows = [...readRecords(counts.type, viewsOf(counts.bytes), counts.count, counts.symbols)].map(
    ({ rule, severity, open, opened_total }) => `${rule} ${severity} ${open} ${opened_total}`,
  )
  assert.equal(new Set(rows).size, counts.count)
  assert.ok(rows.includes('retransmission_storm critical 1 2'))
  for (const row of ['link_flap warning 0 0', 'link_flap critical 0 0']) assert.ok(rows.includes(row), row)
  node.hints.report(source)
  assert.equal(batches.filter(({ type }) => type === markType).length, 1, 'an edge is told once')
})

test('the answer has queries for evidence, and lists missing signals', () => {
  const node = quietNode()
  for (const { type, values, rates } of node.nic(3).series.values())
    if (type.name === 'ethtool_priority') for (const name of Object.keys({ ...values, ...rates })) delete rates[name]
  node.run(10)
  loseOn(node, 3, 2400)
  node.run(5)
  const [hint] = node.open()
  assert.deepEqual(hint?.lacks, ['ethtool_priority_rx_pause_seconds_total'])
  assert.deepEqual(hint?.evidence[0], {
    metric: 'rdma_hw_packet_seq_err_total',
    function: 'rate',
    matchers: [
      { label: 'rdma_device', op: '=', value: 'mlx5_3' },
      { label: 'port', op: '=', value: '1' },
      NOT_SIMULATED,
    ],
  })
})

test('a wait for data tells how busy the busiest disk is, of disks that are there', () => {
  const sentenceOf = (node: TrainingNode) => {
    node.host.rate({ waiting_seconds_total: 0.4 })
    node.run(8, (second) => {
      for (const gpu of node.gpus) gpu.set({ gpu_util: second % 3 === 2 ? 95 : 20, pipe_tensor_active: 0.1 })
    })
    return node.open()[0]?.sentence ?? ''
  }
  const node = quietNode()
  node.host.of(hostDiskType, { disk: 'nvme1n1' }).rates.io_seconds_total = 0.97
  assert.match(sentenceOf(node), /wait 40\.0.% of the time; its busiest disk works 97\.0.% of the time$/)
  assert.ok(node.open()[0]?.evidence.some(({ metric }) => metric === 'host_disk_io_seconds_total'))
  const without = quietNode()
  for (const one of without.host.series.values()) if (one.type === hostDiskType) one.isSilent = true
  without.run(10)
  assert.match(sentenceOf(without), /wait 40\.0.% of the time$/)
  assert.ok(without.open()[0]?.lacks.includes('host_disk_io_seconds_total'))
})

test('hints about memory and processors name the controller or package', () => {
  const node = quietNode()
  const { totals } = node.host.of(hostMemoryControllerType, { controller: '2' })
  totals.uncorrected_errors_total = Number(totals.uncorrected_errors_total) + 3
  node.host.of(hostCpuPackageType, { package: '1' }).rates.throttled_seconds_total = 0.5
  node.run(10)
  assert.deepEqual(
    node.open().map(({ sentence }) => sentence.replaceAll('\u00a0', ' ')),
    [
      'Memory controller 2 counts 3 uncorrected errors in the last minute, limit 1; the node corrected 0',
      'Processor package 1 was slowed down for heat for 50.0 % of the last 5 s, limit 10.0 %',
    ],
  )
  const shown = node.open().flatMap(({ evidence }) => evidence.map(({ matchers }) => matchers))
  const only = (label: string, value: string) => [{ label, op: '=', value }, NOT_SIMULATED]
  assert.deepEqual(shown, [
    only('controller', '2'),
    only('controller', '2'),
    only('package', '1'),
    only('package', '1'),
  ])
})

test('evidence says each condition once, and binds what several series of a device have not in common', () => {
  const node = quietNode()
  const address = '0000:3a:00.0'
  for (const error of ['BadTLP', 'RxErr'])
    node.nic(3).of(pciAerType, { pci_address: address, severity: 'correctable', error }).rates.errors_total = 1000
  node.run(5)
  const [hint] = node.open()
  assert.equal(hint?.rule, 'pcie_aer')
  assert.deepEqual(hint?.evidence[0]?.matchers, [
    { label: 'pci_address', op: '=', value: address },
    { label: 'severity', op: '=', value: 'correctable' },
    NOT_SIMULATED,
  ])
})

test('the sink counts refused records, and takes none after it was closed', async () => {
  const hints = new Hints({ devices: NOBODY, windowLimit: 40 })
  const batches: Batch[] = []
  const source = createSource({ id: 'made', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  const time = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n
  for (let port = 0; port < 10; port++)
    source.report(rdmaHwType, { time, rdma_device: 'mlx5_0', port, local_ack_timeout_err_total: 1 })
  source.flush()
  const [batch] = batches
  assert.ok(batch)
  hints.accept(batch)
  assert.equal(hints.stats.in, 10)
  const refused = hints.stats.dropped.get('window_limit') ?? 0
  assert.ok(refused > 0 && hints.stats.out === 10 - refused)
  hints.accept({ ...batch, bytes: batch.bytes.subarray(8) })
  assert.deepEqual([hints.stats.dropped.get('wrong_size'), hints.stats.errors], [10, 1])
  await hints.close()
  await hints.close()
  hints.accept(batch)
  assert.equal(hints.stats.dropped.get('closed'), 10)
  assert.equal(hints.stats.in, 30)
})

describe('where the counters of a port are read in turns, every eighth second,', () => {
  /** A node whose fourth port has this many timeouts per second after a minute. */
  const nodeOf = (timeoutsPerS: number) => {
    const node = quietNode()
    node.nic(3).rate({ local_ack_timeout_err_total: timeoutsPerS })
    let second = 0
    const run = (seconds: number) =>
      node.run(seconds, () => {
        second++
        for (let rail = 0; rail < 8; rail++)
          for (const series of node.nic(rail).series.values())
            series.isSilent = series.type.inTurns && second % 8 !== rail
      })
    return { node, run }
  }

  test('errors below the limit open nothing', () => {
    assert.deepEqual([...nodeOf(60).run(120)], [])
  })

  test('errors above it open one hint, which stands and tells how many they are', () => {
    const { node, run } = nodeOf(300)
    assert.deepEqual([...run(30)], ['retransmission_storm/nic-mlx5_3-1'])
    for (let second = 0; second < 60; second++) {
      run(1)
      assert.deepEqual(node.shown(), ['retransmission_storm/nic-mlx5_3-1 standing critical'])
      assert.match(node.open()[0]?.sentence ?? '', / counts 300 retransmissions\/s/)
    }
  })
})

test('where errors of PCIe and heat of processors are read in turns, hints open, stand, and tell how many they are', () => {
  const node = quietNode()
  const device = '0000:3a:00.0'
  node
    .nic(3)
    .of(pciAerType, { pci_address: device, severity: 'correctable', error: 'BadTLP' }).rates.errors_total = 1000
  node.host.of(hostCpuPackageType, { package: '1' }).rates.throttled_seconds_total = 0.5
  let second = 0
  const run = (seconds: number) =>
    node.run(seconds, () => {
      second++
      for (const device of [...node.nics, node.host])
        [...device.series.values()].forEach((series, place) => {
          series.isSilent = series.type.inTurns && second % 4 !== place % 4
        })
    })
  // Corrected errors are told of once they last.
  run(330)
  for (let i = 0; i < 60; i++) {
    run(1)
    assert.deepEqual(node.shown().sort(), [
      'cpu_throttle/node standing warning',
      'pcie_aer/nic-mlx5_3-1 standing warning',
    ])
    const [errors, heat] = ['pcie_aer', 'cpu_throttle'].map((rule) =>
      node
        .open()
        .find((hint) => hint.rule === rule)
        ?.sentence.replaceAll('\u00a0', ' '),
    )
    assert.match(errors ?? '', / counts 60 k corrected PCIe errors in the last minute/)
    assert.match(heat ?? '', /slowed down for heat for 50\.0 % of the last 1 min/)
  }
})

test('a record of a time ahead takes no series of others out to make room', () => {
  const hints = new Hints({ devices: NOBODY, windowLimit: 40 })
  const source = createSource({ id: 'made', emit: (batch) => hints.accept(batch) })
  const startMs = Date.UTC(2026, 0, 1)
  const report = (port: number, atMs: number) => {
    const time = BigInt(atMs) * 1_000_000n
    source.report(rdmaHwType, { time, rdma_device: 'mlx5_0', port, local_ack_timeout_err_total: 1 })
    source.flush()
  }
  for (let port = 0; port < 10; port++) report(port, startMs)
  hints.evaluate(startMs)
  const refused = hints.stats.dropped.get('window_limit') ?? 0
  report(99, startMs + 3_000_000)
  assert.equal(hints.stats.dropped.get('window_limit'), refused + 1, 'it finds no room')
})

test('series that left make room again', () => {
  const hints = new Hints({ devices: NOBODY, windowLimit: 40 })
  const source = createSource({ id: 'made', emit: (batch) => hints.accept(batch) })
  const startMs = Date.UTC(2026, 0, 1)
  const report = (port: number, atMs: number) => {
    source.report(rdmaHwType, {
      time: BigInt(atMs) * 1_000_000n,
      rdma_device: 'mlx5_0',
      port,
      local_ack_timeout_err_total: 1,
    })
    source.flush()
  }
  for (let port = 0; port < 10; port++) report(port, startMs)
  const refused = hints.stats.dropped.get('window_limit') ?? 0
  assert.ok(refused > 0)
  report(99, startMs + 2_000_000)
  assert.equal(hints.stats.dropped.get('window_limit'), refused)
})

test('every rule says what it needs to be understood', () => {
  for (const rule of RULES) {
    assert.match(rule.name, /^[a-z]+(_[a-z]+)*$/)
    assert.match(rule.sees, /\.$/)
    assert.ok(rule.limits.length > 0 && rule.shows.length > 0, rule.name)
    assert.ok(
      Object.keys(rule.not).length + (rule.toldApart?.length ?? 0) > 0 || rule.name === 'ecc_pending',
      rule.name,
    )
    for (const other of Object.keys(rule.explainedBy ?? {}))
      assert.ok(
        RULES.some(({ name }) => name === other),
        `${rule.name} is explained by ${other}`,
      )
  }
})

const noDevice: HintDevice = {
  id: '',
  kind: 'pci',
  name: '',
  rail: null,
  isSimulated: false,
  host: '',
  pairs: [],
  address: '',
  path: [],
  limits: {},
}

/** A node with one interface and one GPU as its only devices. */
function plainHints(rules?: readonly HintRule[], ruleFailed?: RuleFailed) {
  const netdev: HintDevice = { ...noDevice, id: 'net-eth0', kind: 'netdev', name: 'eth0', address: '0000:01:00.0' }
  const gpu: HintDevice = {
    ...netdev,
    id: 'gpu-0',
    kind: 'gpu',
    name: 'GPU 0',
    address: '0000:9b:00.0',
    path: ['0000:97:01.0'],
  }
  const devices = {
    version: 1,
    own: () => [netdev, gpu],
    deviceOf: (_type: unknown, { device }: Labels) =>
      device === 'eth0' ? netdev : device === '0000:9b:00.0' ? gpu : undefined,
  }
  const hints = new Hints({
    devices,
    ...(rules === undefined ? {} : { rules }),
    ...(ruleFailed === undefined ? {} : { ruleFailed }),
  })
  const source = createSource({ id: 'made', intervalMs: 1000, emit: (batch) => hints.accept(batch) })
  const startMs = Date.UTC(2026, 0, 1)
  const shown: string[] = []
  let second = 0
  return {
    hints,
    shown,
    /** Reports one sample, then evaluates. */
    sample(report: (source: Source, time: bigint, second: number) => void) {
      const nowMs = startMs + ++second * 1000
      report(source, BigInt(nowMs) * 1_000_000n, second)
      source.flush()
      hints.evaluate(nowMs + 100)
      shown.push(...hints.answer().hints.map(({ id, stage }) => `${id} ${stage}`))
    },
  }
}

const interfaceAt = (source: Source, time: bigint, second: number, carrierChanges: number) => {
  const zero = Object.fromEntries(
    netdevType.layout.slots
      .filter(({ field }) => field.role === 'counter' && !field.optional)
      .map(({ name }) => [name, 0]),
  ) as Omit<RecordOf<typeof netdevType>, 'time' | 'device'>
  const carrier = carrierChanges % 2 === 0 ? 1 : 0
  source.report(netdevType, {
    ...zero,
    time,
    device: 'eth0',
    tx_bytes_total: second * 1e7,
    carrier,
    up: carrier,
  })
  source.report(netdevCarrierType, { time, device: 'eth0', carrier_changes_total: carrierChanges })
}

test('an interface without RDMA tells that its link went down as well', () => {
  const { sample, shown } = plainHints()
  for (let i = 0; i < 20; i++) sample((source, time, second) => interfaceAt(source, time, second, 0))
  assert.deepEqual(shown, [])
  sample((source, time, second) => interfaceAt(source, time, second, 1))
  assert.deepEqual(shown, ['link_flap/net-eth0 standing'])
})

/** Labels of a GPU with few known properties. */
const NO_NAMES = { device: '', modelName: '', Hostname: '', pci_bus_id: '' }

test('trouble of the simulated node leaves the means of the real one as they are, and the other way round', () => {
  for (const troubled of ['real', 'simulated'] as const) {
    const bases = { real: Number.NaN, simulated: Number.NaN }
    const [gpuRule] = RULES.filter(({ of }) => of === 'gpu')
    assert.ok(gpuRule)
    const watching: HintRule = {
      ...gpuRule,
      name: 'watching',
      not: {},
      explainedBy: {},
      find(inspection) {
        const node = whichNode(inspection.device)
        bases[node] = inspection.base(GPU.smActive)
        if (node !== troubled || !(inspection.last(GPU.smActive) > 0.6)) return undefined
        return { title: 'Trouble', measure: countMeasure(1, '>=', 1, ''), sentence: () => 'Trouble' }
      },
    }
    const gpus = [false, true].map((isSimulated): HintDevice => {
      const id = isSimulated ? 'sim-gpu-0' : 'gpu-0'
      return { ...noDevice, id, kind: 'gpu', name: 'GPU 0', isSimulated }
    })
    const devices = {
      version: 1,
      own: () => gpus,
      deviceOf: (_type: unknown, { simulated }: Labels) => gpus[simulated === 'true' ? 1 : 0],
    }
    const hints = new Hints({ devices, rules: [watching] })
    const emit = (batch: Batch) => hints.accept(batch)
    const sources = [{}, { simulated: 'true' }].map((labels, index) =>
      createOwnSource({ id: `made${index}`, intervalMs: 1000, labels, emit }),
    )
    const startMs = Date.UTC(2026, 0, 1)
    for (let second = 0; second < 240; second++) {
      const nowMs = startMs + second * 1000
      for (const source of sources) {
        const time = BigInt(nowMs) * 1_000_000n
        const sm_active = second < 120 ? 0.5 : 0.9
        source.report(nvmlProfileType, { time, ...NO_NAMES, gpu: '0', UUID: 'GPU-0', sm_active } as never)
        source.flush()
      }
      hints.evaluate(nowMs + 100)
    }
    assert.deepEqual(
      hints.answer().hints.map(({ device }) => device),
      [troubled === 'real' ? 'gpu-0' : 'sim-gpu-0'],
    )
    const other = troubled === 'real' ? 'simulated' : 'real'
    assert.ok(bases[troubled] < 0.51, `stands still: ${bases[troubled]}`)
    assert.ok(bases[other] > 0.65, `moves: ${bases[other]}`)
  }
})

test('PCIe errors that are counted at the port above a device are those of the device', () => {
  const { sample, shown } = plainHints()
  for (let i = 1; i < 12; i++)
    sample((source, time) => {
      source.report(pciAerType, {
        time,
        pci_address: '0000:97:01.0',
        severity: 'correctable',
        error: 'BadTLP',
        errors_total: i < 8 ? 5 : 1000,
      })
      source.report(pciAerType, {
        time,
        pci_address: '0000:42:01.0',
        severity: 'correctable',
        error: 'BadTLP',
        errors_total: i * 1000,
      })
    })
  assert.deepEqual([...new Set(shown)], ['pcie_aer/gpu-0 forming'])
})

test('a rule that fails is counted and told once, and keeps no other from being asked', () => {
  const [rule] = RULES
  assert.ok(rule)
  const broken: HintRule = {
    ...rule,
    name: 'broken',
    of: 'node',
    find: () => {
      throw new Error('broken')
    },
  }
  const failed: string[] = []
  const ruleFailed = (rule: string, error: unknown) => failed.push(`${rule}: ${String(error)}`)
  const { hints, sample, shown } = plainHints([broken, ...RULES], ruleFailed)
  for (let i = 0; i < 12; i++) sample((source, time, second) => interfaceAt(source, time, second, second < 10 ? 0 : 1))
  assert.ok(hints.stats.errors >= 12)
  assert.deepEqual(failed, ['broken: Error: broken'])
  assert.ok(shown.includes('link_flap/net-eth0 standing'))
})
