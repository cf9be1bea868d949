import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import {
  array,
  buckets,
  chars,
  counter,
  defineType,
  gauge,
  label,
  labelNumber,
  optional,
  timestamp,
} from '../../index.ts'
import { absenceType, seriesKey } from '../../internal/index.ts'

const port = defineType('port', 'Counters of a port', {
  time: timestamp(),
  device: label(),
  port: labelNumber('u8'),
  rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
  temperature_celsius: optional(gauge('f64', { unit: 'celsius', help: 'Temperature\nof the "port"' })),
  xid: counter('u32', { metric: 'DCGM_FI_DEV_XID', help: 'Named from outside' }),
})

function filledRig(timestamps = false): PrometheusRig {
  const rig = new PrometheusRig({ timestamps })
  const time = 1_800_000_000_123_456_789n
  rig.report(
    rig.source('s', { node: 'n1' }),
    port,
    { time, device: 'eth0', port: 1, rx_bytes_total: 2n ** 64n - 1n, temperature_celsius: -4.25, xid: 7 },
    { time, device: 'e"t\\h\n1', port: 2, rx_bytes_total: 7, temperature_celsius: Number.NaN, xid: 0 },
    { time, device: 'eth2', port: 3, rx_bytes_total: 2n ** 53n + 1n, xid: 12 },
  )
  return rig
}

test('text 0.0.4, byte for byte', async () => {
  assert.equal(
    await filledRig().page('text'),
    `# HELP port_rx_bytes_total Bytes received
# TYPE port_rx_bytes_total counter
port_rx_bytes_total{device="eth0",port="1",node="n1"} 18446744073709551615
port_rx_bytes_total{device="e\\"t\\\\h\\n1",port="2",node="n1"} 00000000000000000007
port_rx_bytes_total{device="eth2",port="3",node="n1"} 00009007199254740993
# HELP port_temperature_celsius Temperature\\nof the "port"
# TYPE port_temperature_celsius gauge
port_temperature_celsius{device="eth0",port="1",node="n1"} -4.25
port_temperature_celsius{device="e\\"t\\\\h\\n1",port="2",node="n1"} NaN
# HELP DCGM_FI_DEV_XID Named from outside
# TYPE DCGM_FI_DEV_XID counter
DCGM_FI_DEV_XID{device="eth0",port="1",node="n1"} 07
DCGM_FI_DEV_XID{device="e\\"t\\\\h\\n1",port="2",node="n1"} 00
DCGM_FI_DEV_XID{device="eth2",port="3",node="n1"} 12
`,
  )
})

test('OpenMetrics 1.0, byte for byte', async () => {
  assert.equal(
    await filledRig().page('openmetrics'),
    `# TYPE port_rx_bytes counter
# UNIT port_rx_bytes bytes
# HELP port_rx_bytes Bytes received
port_rx_bytes_total{device="eth0",port="1",node="n1"} 18446744073709551615
port_rx_bytes_total{device="e\\"t\\\\h\\n1",port="2",node="n1"} 00000000000000000007
port_rx_bytes_total{device="eth2",port="3",node="n1"} 00009007199254740993
# TYPE port_temperature_celsius gauge
# UNIT port_temperature_celsius celsius
# HELP port_temperature_celsius Temperature\\nof the \\"port\\"
port_temperature_celsius{device="eth0",port="1",node="n1"} -4.25
port_temperature_celsius{device="e\\"t\\\\h\\n1",port="2",node="n1"} NaN
# TYPE DCGM_FI_DEV_XID unknown
# HELP DCGM_FI_DEV_XID Named from outside
DCGM_FI_DEV_XID{device="eth0",port="1",node="n1"} 07
DCGM_FI_DEV_XID{device="e\\"t\\\\h\\n1",port="2",node="n1"} 00
DCGM_FI_DEV_XID{device="eth2",port="3",node="n1"} 12
# EOF
`,
  )
})

test('fields of one metric are lines of one family, told apart by their constant labels', async () => {
  const time = { metric: 'cpu_seconds_total', unit: 'seconds', help: 'Time by mode' }
  const cpu = defineType('cpu', '', {
    cpu: labelNumber('u16'),
    user: counter('f64', { ...time, labels: { mode: 'user' } }),
    guest: optional(counter('f64', { ...time, labels: { mode: 'guest', kind: 'a"b' } })),
    turns: array(counter('u8', { labels: { mode: 'user' } }), 2),
    wait: buckets('u64', [1], { metric: 'wait', labels: { way: 'in' } }),
    wait_sum: counter('u64'),
    back: buckets('u64', [1], { metric: 'wait', labels: { way: 'out' } }),
  })
  const rig = new PrometheusRig()
  const lines = { turns: [1, 2], wait: [1, 2], wait_sum: 9, back: [3, 0] }
  // A label of the source with the name of a constant label is renamed.
  const source = rig.source('s', { mode: 'test' })
  rig.report(source, cpu, { cpu: 0, user: 1.5, guest: 0.5, ...lines }, { cpu: 1, user: 2.5, ...lines })
  const own = (number: number) => `cpu="${number}",exported_mode="test"`
  assert.equal(
    await rig.page('openmetrics'),
    `# TYPE cpu_seconds counter
# UNIT cpu_seconds seconds
# HELP cpu_seconds Time by mode
cpu_seconds_total{${own(0)},mode="user"} 1.5
cpu_seconds_total{${own(1)},mode="user"} 2.5
cpu_seconds_total{${own(0)},kind="a\\"b",mode="guest"} 0.5
# TYPE cpu_turns unknown
# HELP cpu_turns cpu: turns
cpu_turns{${own(0)},mode="user",index="0"} 1
cpu_turns{${own(0)},mode="user",index="1"} 2
cpu_turns{${own(1)},mode="user",index="0"} 1
cpu_turns{${own(1)},mode="user",index="1"} 2
# TYPE wait histogram
# HELP wait cpu: wait
wait_bucket{${own(0)},way="in",le="1.0"} 1
wait_bucket{${own(0)},way="in",le="+Inf"} 3
wait_count{${own(0)},way="in"} 3
wait_sum{${own(0)},way="in"} 9
wait_bucket{${own(1)},way="in",le="1.0"} 1
wait_bucket{${own(1)},way="in",le="+Inf"} 3
wait_count{${own(1)},way="in"} 3
wait_sum{${own(1)},way="in"} 9
wait_bucket{${own(0)},way="out",le="1.0"} 3
wait_bucket{${own(0)},way="out",le="+Inf"} 3
wait_bucket{${own(1)},way="out",le="1.0"} 3
wait_bucket{${own(1)},way="out",le="+Inf"} 3
# EOF
`,
  )
})

test('a constant label makes the same series as a label field of another type', async () => {
  const metric = 'cpu_total'
  const split = defineType('split', '', {
    cpu: labelNumber('u16'),
    user: counter('u8', { metric, labels: { mode: 'user' } }),
    idle: counter('u8', { metric, labels: { mode: 'idle' } }),
  })
  const plain = defineType('plain', '', { cpu: labelNumber('u16'), mode: label(), total: counter('u8', { metric }) })
  const rig = new PrometheusRig()
  const first = rig.source('first')
  rig.report(first, split, { cpu: 0, user: 1, idle: 2 })
  rig.report(rig.source('second'), plain, { cpu: 0, mode: 'idle', total: 3 }, { cpu: 0, mode: 'steal', total: 4 })
  const lines = async () => (await rig.page('text')).split('\n').filter((line) => line.startsWith(metric))
  assert.deepEqual(await lines(), [
    'cpu_total{cpu="0",mode="user"} 1',
    'cpu_total{cpu="0",mode="idle"} 2',
    'cpu_total{cpu="0",mode="steal"} 4',
  ])
  rig.view.removeSource(first.info)
  assert.deepEqual(await lines(), ['cpu_total{cpu="0",mode="idle"} 3', 'cpu_total{cpu="0",mode="steal"} 4'])
})

test('with `timestamps: true` lines carry milliseconds in text and seconds in OpenMetrics', async () => {
  const rig = filledRig(true)
  assert.match(await rig.page('text'), /^DCGM_FI_DEV_XID\{device="eth0",port="1",node="n1"\} 07 1800000000123$/m)
  assert.match(
    await rig.page('openmetrics'),
    /^DCGM_FI_DEV_XID\{device="eth0",port="1",node="n1"\} 07 1800000000\.123$/m,
  )
})

test('a view without series is an empty text, and in OpenMetrics its end', async () => {
  const rig = new PrometheusRig()
  assert.equal(await rig.page('text'), '')
  assert.equal(await rig.page('openmetrics'), '# EOF\n')
})

test('bins become cumulative buckets with edges as Go writes them, count and sum', async () => {
  const wait = defineType('wait', 'Waits', {
    seconds: buckets('u64', [0.5, 1, 1e6], { unit: 'seconds', help: 'Time waited' }),
    seconds_sum: counter('f64', { unit: 'seconds' }),
  })
  const rig = new PrometheusRig()
  rig.report(rig.source(), wait, { seconds: [2, 3, 4n, 1], seconds_sum: 12.5 })
  assert.equal(
    await rig.page('openmetrics'),
    `# TYPE wait_seconds histogram
# UNIT wait_seconds seconds
# HELP wait_seconds Time waited
wait_seconds_bucket{le="0.5"} 0002
wait_seconds_bucket{le="1.0"} 0005
wait_seconds_bucket{le="1e+06"} 0009
wait_seconds_bucket{le="+Inf"} 0010
wait_seconds_count 0010
wait_seconds_sum 12.5
# EOF
`,
  )
})

test('every element of an array is a line with its index', async () => {
  const queue = defineType('queue', 'Queues', { device: label(), depth: array(gauge('u16', { help: 'Depth' }), 3) })
  const rig = new PrometheusRig()
  rig.report(rig.source(), queue, { device: 'eth0', depth: [5, 60, 700] })
  assert.deepEqual(await rig.lines(), [
    'queue_depth{device="eth0",index="0"} 005',
    'queue_depth{device="eth0",index="1"} 060',
    'queue_depth{device="eth0",index="2"} 700',
  ])
})

test('every integer width, sign, bool and f32 is shown as it is', async () => {
  const all = defineType('all', 'All kinds', {
    i8: gauge('i8'),
    i16: gauge('i16'),
    i32: gauge('i32'),
    i64: gauge('i64'),
    u8: gauge('u8'),
    u16: gauge('u16'),
    u32: gauge('u32'),
    f32: gauge('f32'),
    bool: gauge('bool'),
  })
  const rig = new PrometheusRig()
  const record = { i8: -128, i16: -32768, i32: -(2 ** 31), i64: -(2n ** 63n), u8: 255, u16: 65535, u32: 4294967295 }
  rig.report(rig.source(), all, { ...record, f32: 0.25, bool: true })
  const values = (await rig.lines()).map((line) => line.split(' ')[1])
  const wanted = ['-128', '-32768', '-2147483648', '-9223372036854775808', '255', '65535', '4294967295', '0.25', '1']
  assert.deepEqual(values, wanted)
})

test('invalid UTF-8 of a foreign struct becomes U+FFFD, and what follows its NUL is no label', async () => {
  const foreign = defineType('foreign', 'A C struct', { name: chars(8), hits_total: counter('u64') })
  const rig = new PrometheusRig()
  const bytes = new Uint8Array(foreign.layout.recordBytes)
  bytes.set([0x61, 0xff, 0x22, 0x5c, 0x0a, 0x00, 0x7a, 0x7a])
  bytes[foreign.layout.slots[1]?.offset ?? 0] = 9
  const source = rig.source()
  source.report(foreign, bytes, 1)
  source.flush()
  assert.deepEqual(await rig.lines(), ['foreign_hits_total{name="a\ufffd\\"\\\\\\n"} 9'])
})

test('labels that the format reserves or cannot write are renamed, and empty ones left out', async () => {
  const odd = defineType('odd', 'Odd labels', {
    'a.b': label(),
    a_b: label(),
    __name__: label(),
    index: label(),
    depth: array(gauge('u8'), 2),
  })
  const rig = new PrometheusRig()
  rig.report(rig.source(), odd, { 'a.b': 'x', a_b: 'y', __name__: 'z', index: 'i', depth: [1, 2] })
  const labels = 'a_b_2="x",a_b="y",exported__name__="z",exported_index="i"'
  assert.deepEqual(await rig.lines(), [`odd_depth{${labels},index="0"} 1`, `odd_depth{${labels},index="1"} 2`])
  rig.report(rig.source('other'), odd, { 'a.b': '', a_b: '', __name__: '', index: '', depth: [1, 2] })
  assert.deepEqual((await rig.lines()).slice(2), ['odd_depth{index="0"} 1', 'odd_depth{index="1"} 2'])
})

test('an absence changes no HELP, and a metric without a value is not shown', async () => {
  const rig = new PrometheusRig()
  const source = rig.source('s', { node: 'n1' })
  rig.report(source, port, { time: 1_800_000_000_000_000_000n, device: 'eth0', port: 1, rx_bytes_total: 1, xid: 0 })
  rig.report(source, absenceType, {
    time: 1_800_000_000_000_000_000n,
    type: 'port',
    series: seriesKey({ device: 'eth0', port: '1', node: 'n1' }),
    field: 'temperature_celsius',
    code: 'unsupported',
    reason: 'the driver has no sensor.',
  })
  assert.equal((await rig.families('text')).get('port_temperature_celsius'), undefined)
  const time = 1_800_000_000_000_000_000n
  rig.report(source, port, { time, device: 'eth1', port: 1, rx_bytes_total: 1, temperature_celsius: 9, xid: 0 })
  for (const format of ['text', 'openmetrics'] as const) {
    const family = (await rig.families(format)).get('port_temperature_celsius')
    assert.deepEqual([family?.help, family?.samples.length], ['Temperature\nof the "port"', 1], format)
  }
})

test('a value that was absent is shown as soon as it is there, be it 0', async () => {
  const sparse = defineType('sparse', 'No time, values that may lack', { depth: optional(gauge('u8')) })
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, sparse, {})
  assert.deepEqual(await rig.lines(), [])
  rig.report(source, sparse, { depth: 0 })
  assert.deepEqual(await rig.lines(), ['sparse_depth 0'])
  rig.report(source, sparse, {})
  assert.deepEqual(await rig.lines(), [])
})
