import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import koffi from 'koffi'
import { needs } from '../../debian.ts'
import { Calls } from './calls.ts'
import { DocaDouble } from './doca-double.ts'

const NEEDS = needs('cc')
const CAPABILITY = 'doca_telemetry_adp_retx_cap_is_supported'
const CRASH = join(import.meta.dirname, 'crash-main.ts')
const ENDLESS_MS = 60_000

function bringUp(t: TestContext): { double: DocaDouble; calls: Calls } {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: {} })
  return { double, calls: new Calls(double) }
}

/** How a process ends that does what the case says. */
function crash(double: DocaDouble, name: string): { signal: string | null; message: string } {
  const args = [...process.execArgv, CRASH, double.folder, name]
  const { signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: ENDLESS_MS })
  return { signal, message: /doca double: .*/.exec(stderr)?.[0] ?? '' }
}

test('two calls at once on a device end the process', NEEDS, (t) => {
  const { double } = bringUp(t)
  double.play({ mlx5_0: {} }, [`hang ${CAPABILITY}`])
  assert.deepEqual(crash(double, 'two calls at once'), {
    signal: 'SIGABRT',
    message: `doca double: ${CAPABILITY} of mlx5_0 is called while ${CAPABILITY} runs`,
  })
})

test('a context that is used wrongly ends the process', NEEDS, (t) => {
  const { double } = bringUp(t)
  for (const name of ['a destroyed context', 'a context of another kind']) {
    const { signal, message } = crash(double, name)
    assert.equal(signal, 'SIGABRT')
    assert.match(message, /called with a context that was destroyed or is another's/)
  }
})

test('a scenario that the double does not understand ends the process', NEEDS, (t) => {
  const { double } = bringUp(t)
  double.play({ mlx5_0: { faults: ['hangs doca_dev_open'] } })
  assert.deepEqual(crash(double, 'a call'), {
    signal: 'SIGABRT',
    message: 'doca double: no such line in a scenario: hangs doca_dev_open',
  })
})

test('a crash of a library ends the process, and its counts stay', NEEDS, (t) => {
  const { double } = bringUp(t)
  double.play({ mlx5_0: { faults: ['segv doca_dev_open'] } })
  assert.equal(crash(double, 'a call').signal, 'SIGSEGV')
  assert.equal(double.total('lists'), 1)
})

test('counts threads of a context, calls and what they cost', NEEDS, async (t) => {
  const { double, calls } = bringUp(t)
  const context = calls.number('doca_telemetry_adp_retx_create', 'p', calls.open().dev)
  assert.equal(double.total('mlx5_0 threads'), 0)
  calls.call('doca_telemetry_adp_retx_stop', 'p', context)
  assert.equal(double.total('mlx5_0 threads'), 1)
  await calls.callAsync('doca_telemetry_adp_retx_stop', 'p', context)
  assert.equal(double.total('mlx5_0 threads'), 2)
  const before = double.total('calls')
  double.play({ mlx5_0: { faults: ['cost doca_telemetry_adp_retx_stop 2000'] } })
  calls.call('doca_telemetry_adp_retx_stop', 'p', context)
  assert.equal(double.total('calls') - before, 1)
  assert.ok(double.total('cost_ns') >= 2_000_000)
  assert.ok(double.total('cpu_ns') > 0)
})

test('counts what is not given back, for each process', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  calls.list()
  calls.open()
  const { dev } = calls.open()
  calls.good('doca_dev_close', 'p', dev)
  const own = double.stats().get(process.pid)
  assert.deepEqual(
    ['lists', 'opens', 'contexts'].map((name) => own?.get(name)),
    [1, 1, 0],
  )
  crash(double, 'a call')
  assert.equal(double.stats().size, 2)
  assert.equal(double.total('opens'), 2)
})

test('logs errors of the scenario to a descriptor, down to a level', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  const { info } = calls.open()
  const path = join(double.folder, 'log')
  const descriptor = openSync(path, 'w')
  const backend = calls.number('doca_log_backend_create_with_fd_sdk', 'int', descriptor)
  double.play({ mlx5_0: { faults: [`error ${CAPABILITY} DOCA_ERROR_NOT_FOUND`] } })
  calls.call(CAPABILITY, 'p', info)
  calls.good('doca_log_backend_set_sdk_level', 'p uint32_t', backend, 20)
  calls.call(CAPABILITY, 'p', info)
  closeSync(descriptor)
  assert.equal(readFileSync(path, 'utf8'), `[doca double][ERROR] ${CAPABILITY} of mlx5_0: DOCA_ERROR_NOT_FOUND\n`)
})

test('says what it is, and leaves out what older libraries do not have', NEEDS, (t) => {
  const missing = 'doca_telemetry_diag_reconfig_sample_period'
  const older = koffi.load(new DocaDouble(t, { without: [missing] }).telemetry)
  assert.throws(() => older.func(missing, 'int', ['void *', 'uint64_t']))
  assert.equal(older.func('const char *sonde_doca_double()')(), 'doca double')
  const { double } = bringUp(t)
  assert.ok(koffi.load(double.telemetry).func(missing, 'int', ['void *', 'uint64_t']))
})

test('two doubles in one process answer each from its own scenario', NEEDS, (t) => {
  const first = bringUp(t)
  const second = bringUp(t)
  first.double.play({ mlx5_0: { facts: { adp_retx: 0 } } })
  assert.equal(first.calls.call(CAPABILITY, 'p', first.calls.open().info), 'NOT_SUPPORTED')
  assert.equal(second.calls.call(CAPABILITY, 'p', second.calls.open().info), 'SUCCESS')
})

test('a file that is no library cannot be loaded', NEEDS, (t) => {
  const double = new DocaDouble(t)
  writeFileSync(double.telemetry, 'no library')
  assert.throws(() => koffi.load(double.telemetry))
})
