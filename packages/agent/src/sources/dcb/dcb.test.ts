import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { KernelContext } from '../chains/chain-context.ts'
import { testSource } from '../conformance.ts'
import { Missing } from '../field-absences.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { dcb } from './dcb.ts'
import { dcbExplain } from './explain.ts'
import { dcbRefusal, parseApp, parsePfc, parseTrust } from './parse.ts'
import { dcbPortType } from './type.ts'

const FIXTURES = new URL('fixtures/', import.meta.url)
const outputOf = (name: string) => fs.readFileSync(new URL(name, FIXTURES), 'utf8')
const PFC = outputOf('pfc.json')

/** What the program prints for each object; a line of a refusal ends with `!`. */
interface Printed {
  readonly pfc?: string
  readonly app?: string
  readonly apptrust?: string
}

const TOLD: Printed = { pfc: PFC, app: outputOf('app.json'), apptrust: outputOf('apptrust.json') }

/** A node with adapters, and a program `dcb` that prints recorded answers. */
function nodeWith(t: TestContext, printed: Printed = TOLD, devices: readonly string[] = ['eth1']) {
  const node = new TestNode(t)
  for (const device of devices) addAdapter(node, device)
  const print = (answers: Printed) => {
    for (const object of ['pfc', 'app', 'apptrust'] as const) node.write(`answers/${object}`, answers[object] ?? '')
  }
  print(printed)
  const program = join(node.root, 'dcb')
  const script = (text: string) => {
    fs.writeFileSync(program, `#!/bin/sh\ncd "${node.root}"\necho "$*" >> calls\n${text}\n`)
    fs.chmodSync(program, 0o755)
  }
  script(`grep -q '!$' "answers/$4" || exec cat "answers/$4"; tr -d '!' < "answers/$4" >&2; exit 1`)
  const tested = new TestedSource(dcb, node.paths, { dcb: program })
  t.after(() => tested.source.close())
  const calls = () => (fs.existsSync(join(node.root, 'calls')) ? node.read('calls').trim().split('\n') : [])
  // On a busy machine a sweep asks a part of the interfaces.
  const sampleUntil = async (count: number): Promise<void> => {
    while (calls().length < count) await tested.source.sample()
  }
  return { node, tested, program, print, script, calls, sampleUntil }
}

function addAdapter(node: TestNode, device: string): void {
  node.write(`sys/class/net/${device}/device/vendor`, '0x15b3\n')
  node.link(`sys/class/net/${device}/device/subsystem`, '../../../../bus/pci')
}

/** Lets time pass as fast as the test wants. */
function passingTime(t: TestContext): (ms: number) => void {
  const { now } = performance
  let passedMs = 0
  performance.now = () => now.call(performance) + passedMs
  t.after(() => {
    performance.now = now
  })
  return (ms) => {
    passedMs += ms
  }
}

const reasonsIn = (taken: ReturnType<TestedSource['take']>) =>
  taken
    .filter(({ record }) => 'code' in record)
    .map(({ record }) => `${record.field}: ${record.code}: ${record.reason}`)

testSource(dcb, {
  paths: { sysfs: fileURLToPath(new URL('sys', FIXTURES)) },
  options: { dcb: fileURLToPath(new URL('dcb', FIXTURES)) },
})

test('mask, trust and priorities of an adapter are those that dcb prints', async (t) => {
  const { tested, calls } = nodeWith(t)
  const [record] = await tested.sampleOf(dcbPortType)
  const { time: _, ...values } = record ?? {}
  assert.deepEqual(values, {
    device: 'eth1',
    pfc_mask: 0b1000,
    default_priority: 0,
    trust: 'dscp pcp',
    dscp_priorities: '24:3 26:3 48:6',
  })
  await tested.source.sample()
  assert.deepEqual(
    calls(),
    ['pfc', 'app', 'apptrust'].map((object) => `-N -j -- ${object} show dev eth1`),
  )
})

test('settings are read again each minute, and an adapter that leaves is gone', async (t) => {
  const pass = passingTime(t)
  const { node, tested, print } = nodeWith(t)
  await tested.source.sample()
  print({ ...TOLD, pfc: PFC.replace('true', 'false') })
  assert.equal((await tested.sampleOf(dcbPortType))[0]?.pfc_mask, 8)
  pass(61_000)
  assert.equal((await tested.sampleOf(dcbPortType))[0]?.pfc_mask, 0)
  node.remove('sys/class/net/eth1')
  addAdapter(node, 'eth2')
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { device: 'eth1' }), [': gone'])
})

test('a dcb without apptrust, and a driver without it: no trust, with the reason; mlx5 shows it by its map', async (t) => {
  for (const [line, reason] of [
    ['Object "apptrust" is unknown!', 'this dcb does not know it: iproute2 6.2 or newer does'],
    ['Attribute not found: Success!', 'the driver or the kernel has none'],
  ] as const) {
    const { node, tested, sampleUntil } = nodeWith(t, { ...TOLD, apptrust: line }, ['eth1', 'eth2'])
    node.link('sys/class/net/eth2/device/driver', '../../../../bus/pci/drivers/mlx5_core')
    await sampleUntil(6)
    assert.deepEqual(reasonsIn(tested.take()), [`trust: unsupported: ${reason}`])
    assert.deepEqual(
      (await tested.sampleOf(dcbPortType)).map(({ device, trust }) => [device, trust]),
      [
        ['eth1', undefined],
        ['eth2', 'dscp'],
      ],
    )
  }
  const { node, tested } = nodeWith(t, { pfc: PFC, app: '{ }', apptrust: 'Attribute not found: Success!' })
  node.link('sys/class/net/eth1/device/driver', '../../../../bus/pci/drivers/mlx5_core')
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(reasonsIn(taken), ['default_priority: unsupported: no default priority is set'])
  const [row] = taken.filter(({ type }) => type === dcbPortType)
  assert.deepEqual([row?.record.trust, row?.record.dscp_priorities], ['pcp', 'none'])
})

test('an adapter that refuses has no values, the others do, and it is asked less often', async (t) => {
  const pass = passingTime(t)
  const { tested, script, calls, sampleUntil } = nodeWith(t, TOLD, ['eth1', 'eth2'])
  script('[ "$7" = eth2 ] || exec cat "answers/$4"; echo Attribute read: Operation not supported >&2; exit 1')
  await sampleUntil(4)
  assert.deepEqual(reasonsIn(tested.take()), [
    ': unsupported: the driver of the interface has no quality of service to show',
  ])
  for (let minute = 1; minute <= 9; minute++) {
    pass(61_000)
    await sampleUntil(4 + 3 * minute)
  }
  tested.take()
  assert.deepEqual(
    (await tested.sampleOf(dcbPortType)).map(({ device }) => device),
    ['eth1'],
  )
  const refused = () => calls().filter((call) => call.endsWith('eth2')).length
  assert.equal(refused(), 1)
  pass(61_000)
  await sampleUntil(calls().length + 4)
  assert.equal(refused(), 2)
})

test('a program that hangs is ended after its limit, and one that cannot be killed stays alone', async (t) => {
  const pass = passingTime(t)
  const { node, tested, script, calls } = nodeWith(t)
  await tested.source.sample()
  tested.take()
  pass(61_000)
  script('exec sleep 1000')
  await tested.source.sample()
  const [reason] = reasonsIn(tested.take())
  assert.match(reason ?? '', /^: failed: .* has not ended after 2000 ms$/)
  assert.equal(calls().length, 4, 'no further object was asked for')
  pass(61_000)
  fs.writeFileSync(join(node.root, 'dcb'), `#!/bin/sh\nexec cat "${node.root}/answers/$4"\n`)
  // The end of the killed program arrives later than its answer.
  while ((await tested.sampleOf(dcbPortType)).length === 0) await sleep(5)
})

test('garbage is a failure with its start, and never a value', async (t) => {
  const { tested } = nodeWith(t, { ...TOLD, pfc: '<html>' })
  await tested.source.sample()
  assert.deepEqual(reasonsIn(tested.take()), [': failed: dcb pfc printed what cannot be read: "<html>"'])
})

test('the name of an interface may look like an option', async (t) => {
  const { tested, calls, sampleUntil } = nodeWith(t, TOLD, ['-V', '--help'])
  await sampleUntil(6)
  tested.take()
  assert.deepEqual(
    (await tested.sampleOf(dcbPortType)).map(({ device }) => device),
    ['--help', '-V'],
  )
  assert.ok(calls().every((call) => /^-N -j -- \w+ show dev -/.test(call)))
})

test('without the program the source is absent; without an adapter too', async (t) => {
  const { node, tested, program } = nodeWith(t)
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '1 interface' })
  fs.rmSync(program)
  const absent = await tested.source.probe()
  assert.match(absent.state === 'absent' ? absent.reason : '', /^the program \S+dcb of iproute2 is not installed$/)
  await assert.rejects(tested.source.sample(), /is no longer there$/)
  fs.writeFileSync(program, '', { mode: 0o755 })
  node.remove('sys/class/net/eth1')
  assert.equal((await tested.source.probe()).state, 'absent')
})

test('outputs: all 64 DSCPs in a few ranges, several priorities of one DSCP, and what dcb cannot print', () => {
  assert.deepEqual(parseApp(outputOf('app-all.json')), {
    dscp_priorities: '0-25:0 26:3 27-47:0 48:6 49-63:0',
    default_priority: undefined,
  })
  assert.deepEqual(parseApp('{"dscp_prio":[[26,4],[26,3],[27,3]],"default_prio":[1,5]}'), {
    dscp_priorities: '26-27:3 26:4',
    default_priority: 5,
  })
  assert.equal(parseTrust('{"order":[]}'), 'none')
  for (const [parse, outputs] of [
    [parsePfc, ['', '{}', '[]', 'null', '{"prio_pfc":[true]}', '{"prio_pfc":[0,0,0,1,0,0,0,0]}']],
    [parseApp, ['', '[1', '{"dscp_prio":[[64,0]]}', '{"dscp_prio":[[1,8]]}', '{"dscp_prio":[["AF31",3]]}']],
    [parseTrust, ['', '{}', '{"order":"dscp"}', '{"order":[null]}', '{"order":["\\u001b[31m"]}']],
  ] as const)
    for (const output of outputs) assert.ok(parse(output) instanceof Missing, output)
  assert.equal(dcbRefusal('Cannot open netlink socket'), undefined)
})

test('explain counts adapters of hardware, as the source does', async (t) => {
  const { node } = nodeWith(t)
  const context = new KernelContext(node.paths)
  const found = async () => dcbExplain.steps(context).at(-1)?.check()
  node.link('sys/class/net/eth1/device/driver', '../../../../bus/pci/drivers/mlx5_core')
  assert.equal((await found())?.state, 'ok')
  fs.rmSync(join(node.root, 'sys/class/net/eth1/device/subsystem'))
  node.link('sys/class/net/eth1/device/subsystem', '../../../../bus/virtio')
  assert.deepEqual(await dcbExplain.devices(context), [])
  assert.match(JSON.stringify(await found()), /no network adapter; virtual interfaces are left out/)
})
