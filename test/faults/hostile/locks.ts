import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ask } from '../../ask.ts'
import { OTHER_USER } from '../../other-user.ts'
import { until } from '../../sonde-process.ts'
import type { Attack } from './attacker.ts'

/** How long the service may take to listen again. Unit: milliseconds. */
const LISTEN_LIMIT_MS = 60_000

/** Locks every file that it can open below a folder, and puts things of its own in the way, until it is ended. */
const HOLDER = `
import { readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
const [, dir, socketsDir, filesDir, plant] = process.argv
const attempt = (act) => { try { return act() } catch {} }
const held = []
const sock = socketsDir + '/sonde.sock'
const go = () => {
  for (const path of attempt(() => readdirSync(dir, { recursive: true })) ?? []) {
    const file = dir + '/' + path
    for (const mode of [{ readOnly: true }, {}]) attempt(() => {
      const database = new DatabaseSync(file, mode)
      held.push(database)
      database.exec(mode.readOnly ? 'BEGIN; SELECT count(*) FROM sqlite_schema' : 'BEGIN EXCLUSIVE')
    })
    if (/lock|key|sock/.test(path)) attempt(() => rmSync(file))
    while (held.length > 20) attempt(() => held.shift().close())
  }
  attempt(() => renameSync(sock, sock + '.old'))
  if (plant === 'file') attempt(() => writeFileSync(sock, '', { flag: 'wx' }))
  if (plant === 'link') attempt(() => symlinkSync('/dev/null', sock))
  if (plant === 'socket') createServer((socket) => socket.destroy()).on('error', () => undefined).listen(sock)
  for (const name of ['host', 'fault', 'schema', 'hostile']) attempt(() => symlinkSync('/etc', filesDir + '/' + name))
}
go()
setInterval(go, 50)
console.log('holding')`

async function startHolder(...args: readonly string[]): Promise<ChildProcess> {
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', HOLDER, '--', ...args]
  const identity = { uid: OTHER_USER, gid: OTHER_USER }
  const child = spawn(process.execPath, flags, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], ...identity })
  await once(child.stdout, 'data')
  return child
}

/** What another user of the machine can do. */
export const LOCK_ATTACKS: Readonly<Record<string, Attack>> = {
  /** Holds locks and takes places while Sonde ends, starts again and serves. */
  async holdsLocks({ dir, socketsDir, filesDir, random, restart }) {
    const child = await startHolder(dir, socketsDir, filesDir, random.pick(['file', 'link', 'socket']))
    try {
      const address = await restart()
      await until('the service listens again', LISTEN_LIMIT_MS, async () => {
        const { service, store } = await ask<{ service: { state: string }; store: { state: string } }>(
          { address },
          '/api/v1/node',
        )
        return service.state === 'listening' && store.state === 'writing'
      })
      assert.equal(child.exitCode, null, 'the holder ended by itself')
    } finally {
      child.kill('SIGKILL')
    }
  },
}
