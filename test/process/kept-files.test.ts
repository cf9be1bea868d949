// The files that Sonde keeps: their owner, the rights of other users, their folders.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { IncidentsAnswer } from '@sonde/sdk/api'
import { SOCKET_NAME } from '@sonde/sdk/internal'
import { eventsIn } from '../../packages/agent/test/events-in.ts'
import { ask } from '../ask.ts'
import { AS_ROOT, asOtherUser } from '../other-user.ts'
import { assertStops, runSonde, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000
/** Of every process that a test starts here: files are open to everybody, unless whoever makes one says otherwise. */
const OPEN_UMASK = ['sh', '-c', 'umask 0; exec "$@"', 'sh']
/** Locks a file as far as a user can who may read it, and waits. */
const LOCKER = `
import { DatabaseSync } from 'node:sqlite'
try {
  const database = new DatabaseSync(process.argv[1], { readOnly: true })
  database.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
  console.log('locked')
  process.stdin.resume()
} catch ({ message }) { console.log(message) }`

/** A folder that every user may look into, with a configuration that keeps everything that can be kept. */
function keepingEverything(t: TestContext) {
  const { path: home, remove } = temporaryDir()
  t.after(remove)
  chmodSync(home, 0o755)
  const rules = join(home, 'rules.json')
  const signal = { name: 'load', type: 'host_load', field: 'load1' }
  const rule = { name: 'any load', signal: 'load', comparison_type: 'lt', comparison_value: 1_000_000 }
  writeFileSync(rules, JSON.stringify({ sample_history_depth: 1, signals: [signal], rules: [rule] }))
  const file = join(home, 'sonde.yaml')
  const config = {
    data_sources: [{ type: 'host', parts: ['load'], interval_ms: 100 }],
    traceback: { rules, before_ms: 0, after_ms: 0, max_event_s: 1 },
    export: { files: {} },
  }
  writeFileSync(file, JSON.stringify(config))
  const env = { SONDE_SERVICE_ENABLED: 'true', XDG_RUNTIME_DIR: join(home, 'run'), XDG_STATE_HOME: join(home, 'state') }
  const start = async (...args: readonly string[]) => {
    const sonde = await startSonde(['up', '--config', file, ...args], { env, under: OPEN_UMASK })
    t.after(() => sonde.stop('SIGKILL'))
    return sonde
  }
  return { home, file, env, start }
}

/** Waits until an event and a file of records are on disk. */
async function keeps(sonde: SondeProcess, dir: string): Promise<void> {
  await until(
    () => `events and files in ${treeOf(dir)}`,
    LIMIT_MS,
    async () => {
      const { events } = eventsIn(await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event'))
      const names = treeOf(dir).map((path) => basename(path))
      return events.length > 0 && ['.json', '0.bin'].every((end) => names.some((name) => name.endsWith(end)))
    },
  )
}

/** A folder and everything below it. */
function treeOf(path: string): string[] {
  if (!existsSync(path)) return []
  return [path, ...(lstatSync(path).isDirectory() ? readdirSync(path).flatMap((name) => treeOf(join(path, name))) : [])]
}

function openToOthers(dir: string): string[] {
  return treeOf(dir).filter((path) => (statSync(path).mode & 0o077) !== 0)
}

test('everything that is kept is open to its user alone, whatever the umask says, also where it was open before', async (t) => {
  const { home, start } = keepingEverything(t)
  const dir = join(home, 'data')
  // As an earlier version left it.
  mkdirSync(join(dir, 'traceback'), { recursive: true })
  for (const name of ['store.db.lock', 'traceback/.lock', 'traceback/7.json']) writeFileSync(join(dir, name), '')
  const sonde = await start('--data-dir', dir)
  await keeps(sonde, dir)
  const names = treeOf(dir).map((path) => path.slice(dir.length + 1))
  for (const name of ['store.db', 'store.db-wal', 'store.db.lock', 'service.key', 'traceback/.lock'])
    assert.ok(names.includes(name), `${name} in ${names}`)
  assert.deepEqual(openToOthers(dir), [])
  const told = sonde.output().match(/other users had rights in .*?"/g) ?? []
  assert.deepEqual(told.length, 1, sonde.output())
  const sockets = join(home, 'run', 'sonde')
  assert.deepEqual(readdirSync(sockets), [SOCKET_NAME], 'beside the socket there is nothing to protect')
  assert.equal(statSync(sockets).mode & 0o7777, 0o1770)
  await assertStops(sonde)
  const again = await start('--data-dir', dir)
  assert.doesNotMatch(again.output(), /other users/, 'it is said once')
  await assertStops(again)
})

test(
  'another user who holds the locks, and goes on trying, keeps no agent from starting or serving',
  AS_ROOT,
  async (t) => {
    const { home, start } = keepingEverything(t)
    const dir = join(home, 'data')
    mkdirSync(join(dir, 'traceback'), { recursive: true })
    const locks = [join(dir, 'store.db.lock'), join(dir, 'traceback', '.lock')]
    for (const lock of locks) {
      writeFileSync(lock, '')
      assert.equal((await asOtherUser(t, LOCKER, lock)).said, 'locked')
    }
    const sonde = await start('--data-dir', dir)
    await keeps(sonde, dir)
    for (const path of treeOf(dir).filter((name) => statSync(name).isFile()))
      assert.match((await asOtherUser(t, LOCKER, path)).said, /unable to open/, path)
    const { service } = await ask<{ service: { state: string } }>(sonde, '/api/v1/node')
    assert.equal(service.state, 'listening')
    await assertStops(sonde)
  },
)

test('two agents of one user run side by side, each with all that it keeps in its own --data-dir', async (t) => {
  const { home, file, env, start } = keepingEverything(t)
  const [first, second] = [await start(), await start('--data-dir', join(home, 'second'))]
  await keeps(first, join(home, 'state', 'sonde'))
  await keeps(second, join(home, 'second'))
  for (const sonde of [first, second]) {
    const { store } = await ask<{ store: { state: string; reason: string } }>(sonde, '/api/v1/node')
    assert.deepEqual([store.state, store.reason], ['writing', ''])
    assert.doesNotMatch(sonde.output(), /another process/)
  }
  assert.match(
    second.output(),
    new RegExp(`another service \\(process ${first.child.pid}\\) has ${join(home, 'run', 'sonde')}; `),
    'who has the socket is said',
  )
  const { output } = await runSonde(['config', '--config', file, '--data-dir', '/second'], { env })
  const moved = [...output.matchAll(/^ +(?:dir|data_root): (\S+) +# --data-dir$/gm)].map(([, path]) => path)
  assert.deepEqual(moved.sort(), ['/second', '/second', '/second/data', '/second/traceback'])
  await assertStops(first)
  await until('the second has the socket', LIMIT_MS, async () => {
    const { service } = await ask<{ service: { state: string } }>(second, '/api/v1/node')
    return service.state === 'listening'
  })
  await assertStops(second)
})
