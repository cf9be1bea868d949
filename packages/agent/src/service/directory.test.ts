import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createIpc } from '@sonde/sdk'
import { check } from '@sonde/sdk/config'
import { noteName, SOCKET_NAME } from '@sonde/sdk/internal'
import { AS_ROOT, asOtherUser, OTHER_USER } from '../../../../test/other-user.ts'
import { until } from '../../../sdk/test/helper.ts'
import { RawClient } from '../../test/raw-client.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { serviceSchema } from './config.ts'
import { checkSocketsDir, SocketsDir } from './directory.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sonde-dir-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a folder that is missing is made for user and group, and the socket too', async (t) => {
  const dir = join(folder(t), 'deep', 'sockets')
  const { agent } = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
  await agent.service?.settled
  assert.equal(statSync(dir).mode & 0o7777, 0o1770)
  assert.equal(statSync(join(dir, '..')).mode & 0o777, 0o755 & ~process.umask(), 'the group has to get there')
  assert.equal(statSync(join(dir, SOCKET_NAME)).mode & 0o777, 0o660)
  await agent.close()
  assert.equal(existsSync(join(dir, SOCKET_NAME)), false)
})

/** A program that connects to a socket, or runs something of Sonde, as another user where this one is root. */
function another(script: string, group: number) {
  const { getuid } = process
  const user = getuid?.() === 0 ? { uid: group, gid: group } : {}
  const args = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  return spawn(process.execPath, args, { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'], ...user })
}

/**
 * Another group of this user than the default group of new files, if there is one.
 */
function otherGroup(): number {
  const { getuid, getgid, getgroups } = process
  const own = getgid?.() ?? 0
  return getuid?.() === 0 ? 65_534 : (getgroups?.().find((group) => group !== own) ?? own)
}

test('members of the group of the folder can connect, also where it is given to them while the agent runs', async (t) => {
  const dir = folder(t)
  const socket = join(dir, SOCKET_NAME)
  const group = otherGroup()
  chownSync(dir, -1, group)
  chmodSync(dir, 0o770)
  const { agent } = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
  await agent.service?.settled
  const connects = async () => {
    const script = `import { connect } from 'node:net'; const s = connect(${JSON.stringify(socket)}); s.on('connect', () => { console.log('in'); s.destroy() }); s.on('error', ({ message }) => console.log(message))`
    const [said] = await once(another(script, group).stdout, 'data')
    return String(said).trim()
  }
  assert.equal(await connects(), 'in')
  assert.deepEqual([statSync(socket).gid, statSync(socket).mode & 0o777], [group, 0o660])
  chownSync(dir, -1, process.getgid?.() ?? 0)
  await until('the socket follows', () => statSync(socket).gid === process.getgid?.())
  chownSync(dir, -1, group)
  await until('and back', () => statSync(socket).gid === group)
  assert.equal(await connects(), 'in')
})

test('who may not give the socket the group of its folder says so, and serves whom it can', async (t) => {
  const dir = folder(t)
  const isRoot = process.getuid?.() === 0
  if (isRoot) chmodSync(dir, 0o1777)
  const module = new URL('./directory.ts', import.meta.url).href
  const script = `import { createServer } from 'node:net'
const { SocketsDir } = await import(${JSON.stringify(module)})
const dir = await SocketsDir.take(${JSON.stringify(dir)})
const server = createServer()
await dir.listen(server)
{
  try { dir.admitGroup(); console.log('given') } catch ({ message }) { console.log(message) }
  dir.release(); process.exit()
}`
  const [said] = await once(another(script, otherGroup()).stdout, 'data')
  if (isRoot)
    assert.match(String(said), /cannot be given group 0, which .* has: EPERM.*; make the agent's user a member/)
  else assert.equal(String(said).trim(), 'given')
})

test('the folder is an absolute path that leaves room for the name of the socket, as for clients', () => {
  const rule = 'an absolute path of at most 96 bytes'
  const issues = (path: string) => {
    const checked = check(serviceSchema, { sockets_dir: path }, 'service')
    return checked.ok ? [] : checked.issues.map(({ path: place, allowed }) => [place, allowed])
  }
  assert.deepEqual(issues(`/${'x'.repeat(95)}`), [])
  for (const path of ['', 'run/sonde', `/${'x'.repeat(96)}`, `/${'ü'.repeat(48)}`]) {
    assert.deepEqual(issues(path), [['service.sockets_dir', rule]], path)
    if (path !== '')
      assert.throws(() => createIpc({ socketsDir: path }), { code: 'IPC_OPTION', message: new RegExp(rule) })
  }
})

test('a folder that everybody can write, a link, and a file are refused by name', async (t) => {
  const base = folder(t)
  const open = join(base, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  await assert.rejects(SocketsDir.take(open), { code: 'IPC_DIRECTORY', message: /open is writable by everybody/ })
  chmodSync(open, 0o1777)
  ;(await SocketsDir.take(open)).release()
  const link = join(base, 'link')
  symlinkSync(open, link)
  await assert.rejects(SocketsDir.take(link), { code: 'IPC_DIRECTORY', message: /link is no folder/ })
  const file = join(base, 'file')
  writeFileSync(file, '')
  await assert.rejects(SocketsDir.take(file), { code: 'IPC_DIRECTORY', message: /file is no folder/ })
  await assert.rejects(SocketsDir.take('/proc/sonde'), { code: 'IPC_DIRECTORY', message: /\/proc\/sonde/ })
  await assert.rejects(SocketsDir.take('/proc/self/sonde/deeper'), {
    code: 'IPC_DIRECTORY',
    message: /\/proc\/self\/sonde/,
  })
  const taken = join(base, 'taken')
  mkdirSync(taken)
  writeFileSync(join(taken, SOCKET_NAME), 'not a socket')
  await assert.rejects(SocketsDir.take(taken), { code: 'IPC_DIRECTORY', message: /is no socket/ })
  assert.equal(readFileSync(join(taken, SOCKET_NAME), 'utf8'), 'not a socket')
})

test('a second agent goes on without applications, and takes over when the first is gone', async (t) => {
  const dir = folder(t)
  const service = { enabled: true, sockets_dir: dir }
  const first = await serveAgent(t, { service })
  await first.agent.service?.settled
  const second = await serveAgent(t, { service })
  await second.agent.service?.settled
  const { state, reason } = second.agent.service?.status() ?? {}
  assert.equal(state, 'failing')
  assert.match(reason ?? '', /another service \(process \d+\) has .*service\.sockets_dir/)
  assert.ok((await fetch(`${second.address}/metrics`)).ok)
  assert.match(await (await fetch(`${second.address}/api/v1/node`)).text(), /"service":\{"state":"failing"/)
  ;(await RawClient.enter(dir)).close()
  await first.agent.close()
  await until('the second takes over', () => second.agent.service?.status().state === 'listening')
  ;(await RawClient.enter(dir)).close()
})

test('who looks is told what a service would be, and changes nothing', async (t) => {
  const dir = join(folder(t), 'sockets')
  const taken = `another service (process ${process.pid}) has ${dir}; stop that one, give service.sockets_dir another folder, or switch it off with service.enabled`
  assert.deepEqual(await checkSocketsDir(dir), { state: 'absent', found: `${dir} is made at the start` })
  assert.equal(existsSync(dir), false)
  const first = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
  await first.agent.service?.settled
  assert.deepEqual(await checkSocketsDir(dir), { state: 'taken', found: taken })
  const second = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
  await second.agent.service?.settled
  assert.equal(second.agent.service?.status().reason, taken)
  await second.agent.close()
  ;(await RawClient.enter(dir)).close()
  await first.agent.close()
  assert.deepEqual(await checkSocketsDir(dir), { state: 'present', found: dir })
  chmodSync(dir, 0o777)
  const { state, found } = await checkSocketsDir(dir)
  assert.equal(state, 'denied')
  await assert.rejects(SocketsDir.take(dir), { message: found })
  writeFileSync(join(dir, 'file'), '')
  const behind = join(dir, 'file', 'sockets')
  await assert.rejects(SocketsDir.take(behind), { message: (await checkSocketsDir(behind)).found })
  const long = `/${'x'.repeat(96)}`
  assert.match((await checkSocketsDir(long)).found, /is not an absolute path of at most 96 bytes/)
})

test('a socket of a killed service is replaced, and one that was cleaned away is made again', async (t) => {
  const dir = folder(t)
  const script = `require('net').createServer().listen(${JSON.stringify(join(dir, SOCKET_NAME))}, () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const { agent } = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
  await agent.service?.settled
  assert.match(agent.service?.status().reason ?? '', /another service/)
  child.kill('SIGKILL')
  await once(child, 'close')
  assert.ok(lstatSync(join(dir, SOCKET_NAME)).isSocket(), 'it is left')
  await until('it listens', () => agent.service?.status().state === 'listening')
  ;(await RawClient.enter(dir)).close()
  rmSync(join(dir, SOCKET_NAME))
  await until('the socket is there again', () => existsSync(join(dir, SOCKET_NAME)))
  ;(await RawClient.enter(dir)).close()
})

test('services elsewhere leave a note each in the usual folder, and take only their own away', async (t) => {
  const base = folder(t)
  const usual = join(base, 'run', 'sonde')
  mkdirSync(join(base, 'run'))
  const before = process.env.XDG_RUNTIME_DIR
  process.env.XDG_RUNTIME_DIR = join(base, 'run')
  t.after(() => {
    if (before === undefined) delete process.env.XDG_RUNTIME_DIR
    else process.env.XDG_RUNTIME_DIR = before
  })
  const dir = join(base, 'other')
  const { agent } = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
  await agent.service?.settled
  const note = join(usual, noteName(dir))
  assert.deepEqual(JSON.parse(readFileSync(note, 'utf8')), { socketsDir: dir, pid: process.pid })
  const stale = join(usual, noteName('/gone'))
  writeFileSync(stale, JSON.stringify({ socketsDir: '/gone', pid: 2 ** 22 + 1 }))
  const otherDir = join(base, 'third')
  const other = await serveAgent(t, { service: { enabled: true, sockets_dir: otherDir } })
  await other.agent.service?.settled
  assert.equal(existsSync(stale), false, 'what a killed one left is swept')
  await other.agent.close()
  assert.deepEqual([existsSync(note), existsSync(join(usual, noteName(otherDir)))], [true, false])
  await agent.close()
  assert.equal(existsSync(note), false)
})

test('a client of another user that looks in its own folder is told where the service is', async (t) => {
  const base = folder(t)
  chmodSync(base, 0o1777)
  const { TMPDIR, XDG_RUNTIME_DIR } = process.env
  t.after(() => {
    for (const [name, value] of Object.entries({ TMPDIR, XDG_RUNTIME_DIR })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  process.env.TMPDIR = base
  delete process.env.XDG_RUNTIME_DIR
  const group = otherGroup()
  // As that user would have made it, had it been the first.
  if (process.getuid?.() === 0) {
    mkdirSync(join(base, 'sonde-services'))
    chownSync(join(base, 'sonde-services'), group, group)
  }
  const { agent } = await serveAgent(t, { service: { enabled: true } })
  await agent.service?.settled
  const { socketsDir } = agent.service?.status() ?? {}
  const note = join(base, 'sonde-services', noteName(socketsDir ?? ''))
  assert.equal(statSync(note).mode & 0o777, 0o644)
  const module = new URL('../../../sdk/src/index.ts', import.meta.url).href
  const own = join(base, 'own')
  const script = `const { createIpc } = await import(${JSON.stringify(module)})
const sink = createIpc({ socketsDir: ${JSON.stringify(own)}, socketTimeoutMs: 50 })
setInterval(() => { const error = sink.status().lastError; if (error) { console.log(error.message); process.exit() } }, 5)`
  const [said] = await once(another(script, group).stdout, 'data')
  assert.match(
    String(said),
    new RegExp(`no service answers in ${own}; process ${process.pid} listens in ${socketsDir}`),
  )
  await agent.close()
  assert.equal(existsSync(note), false)
})

test('the note for everybody goes through no link', async (t) => {
  const base = folder(t)
  const { TMPDIR } = process.env
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  process.env.TMPDIR = base
  const victim = join(base, 'victim')
  mkdirSync(victim)
  const services = join(base, 'sonde-services')
  symlinkSync(victim, services)
  const dir = join(base, 'sockets')
  const socketsDir = await SocketsDir.take(dir)
  t.after(() => socketsDir.release())
  assert.throws(() => socketsDir.leaveCommonNote(), { code: /ELOOP|ENOTDIR/ })
  assert.deepEqual(readdirSync(victim), [])
  rmSync(services)
  mkdirSync(services)
  writeFileSync(join(victim, 'kept'), 'kept')
  symlinkSync(join(victim, 'kept'), join(services, noteName(dir)))
  socketsDir.leaveCommonNote()
  assert.equal(readFileSync(join(victim, 'kept'), 'utf8'), 'kept')
  assert.match(readFileSync(join(services, noteName(dir)), 'utf8'), /"socketsDir"/)
})

for (const [what, put] of [
  ['a socket', "import { createServer } from 'node:net'; createServer().listen(path, () => console.log('put'))"],
  ['a file', "fs.writeFileSync(path, ''); console.log('put')"],
  ['a link', "fs.symlinkSync('/dev/null', path); console.log('put')"],
  ['a folder', "fs.mkdirSync(path + '/full', { recursive: true }); console.log('put')"],
] as const) {
  test(
    `${what} that another user put in place of the socket in a folder of ours is replaced, and ours cannot be taken away`,
    AS_ROOT,
    async (t) => {
      const dir = folder(t)
      const socket = join(dir, SOCKET_NAME)
      chownSync(dir, -1, OTHER_USER)
      chmodSync(dir, 0o770)
      const squatter = `import fs from 'node:fs'; const path = process.argv[1]; ${put}`
      assert.equal((await asOtherUser(t, squatter, socket)).said, 'put')
      assert.equal((await checkSocketsDir(dir)).state, 'present')
      const { agent } = await serveAgent(t, { service: { enabled: true, sockets_dir: dir } })
      await agent.service?.settled
      assert.equal(agent.service?.status().state, 'listening', agent.service?.status().reason)
      ;(await RawClient.enter(dir)).close()
      const thief = `
import { unlinkSync } from 'node:fs'
try { unlinkSync(process.argv[1]); console.log('gone') } catch ({ code }) { console.log(code) }`
      assert.equal((await asOtherUser(t, thief, socket)).said, 'EPERM')
    },
  )
}
