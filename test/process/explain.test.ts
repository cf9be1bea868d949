import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createIpc, createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { DocaDouble } from '../doubles/doca/doca-double.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const NEEDS_CC = needs('cc')
const NOBODY = ['--listen', '127.0.0.1:1']

test('explains the loopback interface without an agent, link by link', async () => {
  const { code, output } = await runSonde(['explain', 'lo', ...NOBODY])
  assert.equal(code, 0, output)
  assert.match(output, /✓ configuration {2}data_sources: netdev/)
  assert.match(output, /✓ driver .*virtual interface/)
  assert.match(output, /· agent .*no agent answers there/)
})

test('adds what an agent on the configured address knows', async () => {
  const sonde = await startSonde(['agent'])
  try {
    const { code, output } = await runSonde([
      'explain',
      'netdev_rx_bytes_total',
      '--listen',
      new URL(sonde.address).host,
    ])
    assert.equal(code, 0, output)
    assert.match(output, /✓ agent .*reading, last sample/)
    assert.match(output, /✓ value .*series, newest/)
  } finally {
    await sonde.stop()
  }
})

test('what only an application tells of is explained too, and its names are shown as text', async (t) => {
  const { path: sockets_dir, remove } = temporaryDir()
  t.after(remove)
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: sockets_dir }
  const sonde = await startSonde(['agent'], { env })
  t.after(() => sonde.stop())
  const shift = defineType(
    'shift',
    'A shift of the hall',
    { time: timestamp(), shift: label(), workers: gauge('u32') },
    { entity: { kind: 'shift', key: ['shift'], defines: true } },
  )
  const schema = createSchema({ name: 'hall', sinks: [createIpc({ socketsDir: sockets_dir })] })
  schema.addType(shift)
  await schema.start()
  const source = schema.createSource({ id: 'hall', tag: 'test' })
  source.report(shift, { time: wallNs(), shift: 'early\x1b[2J', workers: 7 })
  await source.flush()
  const explained = () => runSonde(['explain', 'shift-early\x1b[2J', '--listen', new URL(sonde.address).host], { env })
  const { code, output } = await explained()
  assert.equal(code, 0, output)
  assert.match(output, /✓ agent .*hall reports shift early\\u001b\[2J as shift/)
  assert.match(output, /✓ value .*1 of 1 value, newest/)
  assert.ok(!output.includes('\x1b'))
  await schema.close()
  const gone = await until('its end', 20_000, async () => {
    const told = await explained()
    return told.code === 1 ? told.output : undefined
  })
  assert.match(gone, /✗ agent .*\n.*it left .* ago: the application that reported it has ended/)
})

test('a broken link comes with how to fix it, and exit code 1', async () => {
  const { code, output } = await runSonde(['explain', 'netdev', '--path.sysfs', '/nowhere', ...NOBODY])
  assert.equal(code, 1, output)
  assert.match(output, /✗ file +\/nowhere\n +came back: ENOENT.*\n +to fix it: +.*--path\.sysfs/)
})

test('a name that a shell or a terminal would obey is quoted in the command that fixes it, and shown as text', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sonde-explain-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const name = 'a;$(b)\x1b[2J'
  mkdirSync(join(root, 'sys/class/net', name), { recursive: true })
  writeFileSync(join(root, 'sys/class/net', name, 'operstate'), 'down\n')
  mkdirSync(join(root, 'proc/net'), { recursive: true })
  writeFileSync(join(root, 'proc/net/dev'), `\n\n${name}: ${'1 '.repeat(16)}\n`)
  const roots = ['--path.sysfs', join(root, 'sys'), '--path.procfs', join(root, 'proc')]
  const { code, output } = await runSonde(['explain', name, ...roots, ...NOBODY])
  assert.equal(code, 1, output)
  assert.match(output, /to fix it: +sudo ip link set 'a;\$\(b\)\\u001b\[2J' up\n/)
  assert.ok(!output.includes('\x1b'))
})

test('without an agent the drivers of a source are asked once, in a child process as by an agent', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sonde-explain-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const device = join(root, 'sys/class/net/absent9/device')
  mkdirSync(device, { recursive: true })
  mkdirSync(join(root, 'proc/net'), { recursive: true })
  symlinkSync('../../drivers/mlx5_core', join(device, 'driver'))
  writeFileSync(join(device, '../operstate'), 'up\n')
  writeFileSync(join(root, 'proc/net/dev'), `\n\nabsent9: ${'1 '.repeat(16)}\n`)
  const roots = ['--path.sysfs', join(root, 'sys'), '--path.procfs', join(root, 'proc')]
  const { code, output } = await runSonde(['explain', 'ethtool', ...roots, ...NOBODY])
  assert.equal(code, 1, output)
  assert.match(
    output,
    /✗ value +one sample, in a child process\n +came back: failed: the kernel knows no interface of .*, which lists 1/,
  )
})

test('an unknown name is a usage error that offers the nearest', async () => {
  const { code, output } = await runSonde(['explain', 'netdv', ...NOBODY])
  assert.equal(code, 2)
  assert.match(output, /^sonde: no source, device, metric, pod or rule is called "netdv"; nearest: netdev\n$/)
  const alone = await runSonde(['explain', 'GPU 0', ...NOBODY])
  assert.equal(alone.code, 2)
  assert.match(
    alone.output,
    /"GPU 0"; http:\S+ did not answer as an agent, and an agent may know it; sources are host, /,
  )
})

test('prints JSON that says the same', async () => {
  const { code, output } = await runSonde(['explain', '--json', 'lo', ...NOBODY])
  assert.equal(code, 0)
  const [chain] = JSON.parse(output) as { source: string; links: { name: string; state: string }[] }[]
  assert.equal(chain?.source, 'netdev')
  assert.ok(chain?.links.some(({ name, state }) => name === 'traffic' && state === 'ok'))
})

test('a source that is stuck in its child is told as such, and its files are left alone', async () => {
  const sonde = await startSonde(['hang', '2'], {
    main: fileURLToPath(new URL('../faults/unruly-main.ts', import.meta.url)),
  })
  try {
    const links = await until('a source that is stuck', 60_000, async () => {
      const { links } = await ask<{ links: { name: string; state: string; answer: string }[] }>(
        sonde,
        '/api/v1/explain?of=unruly',
      )
      return links.some(({ answer }) => answer.startsWith('stuck')) && links
    })
    assert.deepEqual(
      links.map(({ name, state }) => `${name} ${state}`),
      ['configuration ok', 'agent broken'],
    )
  } finally {
    await sonde.stop()
  }
})

test('a self-test writes a report to stdout, and its exit code says whether there was something to test', async (t) => {
  const double = NEEDS_CC.skip === false ? new DocaDouble(t) : undefined
  double?.play({ mlx5_0: {} })
  const run = (library: string) =>
    runSonde(['explain', '--self-test', 'doca'], { env: { SONDE_NATIVE_DOCA_LIBRARY: library } })
  const { code, output } = await run('/nowhere.so')
  assert.equal(code, 4, output)
  assert.match(output, /# Self-test of the DOCA .*\n\n.*\n.*\n\| Sonde \|/)
  assert.match(output, /Nothing could be tested: native\.doca_library ".*": nothing is there; install/)
  if (double === undefined) return
  const found = await run(double.folder)
  assert.equal(found.code, 0, found.output)
  assert.match(found.output, /\n\d+ of \d+: phy\.capabilities of device 1 passed\n/)
  assert.match(found.output, /\n0 failed, \d+ not possible, \d+ passed, in \d+ s\.\n/)
  const wrong = await runSonde(['explain', '--self-test', 'ucx'])
  assert.deepEqual([wrong.code, wrong.output], [2, 'sonde: --self-test is "ucx"; allowed: doca, nvml\n'])
})
