import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporarySockets } from '../../../test/ipc-rig.ts'
import { SondeError } from '../../errors.ts'
import { commonNotesDir, noteName, noteText } from './sockets-dir.ts'
import { explainFailure } from './whereabouts.ts'

const isRoot = process.getuid?.() === 0
const OTHER = 65_534

/** Folders of temporary files and of sockets that are the test's own. */
function places(t: TestContext) {
  const base = temporarySockets(t)
  const before = process.env.TMPDIR
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  process.env.TMPDIR = base
  const here = join(base, 'here')
  const there = join(base, 'there')
  for (const path of [here, there]) mkdirSync(path)
  writeFileSync(join(there, 'sonde.sock'), '')
  const refused = new SondeError('IPC_CONNECTION', 'out of reach', {
    cause: Object.assign(new Error('nobody'), { code: 'ECONNREFUSED' }),
  })
  return { base, here, there, message: () => explainFailure(here, refused, join(base, 'usual')).message }
}

test('a service of another user is named, from the note that it left for everybody, and whose note it is', (t) => {
  const { here, there, message } = places(t)
  assert.match(message(), new RegExp(`no service answers in ${here}; start one`))
  mkdirSync(commonNotesDir())
  const note = join(commonNotesDir(), noteName(there))
  writeFileSync(note, noteText(there))
  assert.match(message(), new RegExp(`in ${here}; process ${process.pid} listens in ${there}: set socketsDir`))
  if (isRoot) chownSync(note, OTHER, OTHER)
  const whose = isRoot ? / \(as a note of user 65534 says\): set/ : /: set/
  assert.match(message(), whose)
  rmSync(join(there, 'sonde.sock'))
  assert.match(message(), /start one/, 'without its socket it is not believed')
})

test('what somebody else plants among the notes is not followed, not waited for, and not shown', (t) => {
  const { base, there, message } = places(t)
  mkdirSync(commonNotesDir())
  const note = join(commonNotesDir(), noteName(there))
  const elsewhere = join(base, 'elsewhere')
  writeFileSync(elsewhere, noteText(there))
  const planted: [what: string, plant: () => void][] = [
    ['a link', () => symlinkSync(elsewhere, note)],
    ['a pipe', () => execFileSync('mkfifo', [note])],
    ['a folder', () => mkdirSync(note)],
    ['a long one', () => writeFileSync(note, noteText(there) + ' '.repeat(5000))],
    ['no JSON', () => writeFileSync(note, '\0\xff{')],
    ['null', () => writeFileSync(note, 'null')],
    ['a path that clears the screen', () => writeFileSync(note, noteText(`${there}\x1b[2J`))],
    ['a path of another direction', () => writeFileSync(note, noteText(`${there}\u202e`))],
    ['a relative path', () => writeFileSync(note, noteText('there'))],
    ['another name', () => writeFileSync(join(commonNotesDir(), 'note.json'), noteText(there))],
  ]
  for (const [what, plant] of planted) {
    plant()
    assert.match(message(), /start one/, what)
    rmSync(note, { force: true, recursive: true })
  }
  for (let i = 0; i < 1000; i++) writeFileSync(join(commonNotesDir(), noteName(`/planted/${i}`)), noteText(there))
  assert.ok(message().length < 1000, 'a thousand notes are no long message')
  rmSync(commonNotesDir(), { recursive: true })
  const real = join(base, 'real')
  mkdirSync(real)
  writeFileSync(join(real, noteName(there)), noteText(there))
  symlinkSync(real, commonNotesDir())
  assert.match(message(), /start one/, 'a link in place of the folder')
})

test('who is not let in is told who it is, whom folder and socket let in, and what to do', (t) => {
  const { base, here } = places(t)
  for (const path of [base, here]) chmodSync(path, 0o755)
  const socket = join(here, 'sonde.sock')
  // No service listens, which only a user with access can see.
  const leave = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', leave])
  chmodSync(socket, isRoot ? 0o660 : 0o000)
  const module = new URL('../../index.ts', import.meta.url).href
  const script = `const { createIpc } = await import(${JSON.stringify(module)})
const sink = createIpc({ socketsDir: ${JSON.stringify(here)}, socketTimeoutMs: 50 })
const look = setInterval(() => { const error = sink.status().lastError; if (error) { console.log(error.code, error.message); process.exit() } }, 5)`
  const says = () =>
    execFileSync(
      process.execPath,
      ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      { encoding: 'utf8', cwd: '/', ...(isRoot ? { uid: OTHER, gid: OTHER } : {}) },
    )
  const [uid, gid] = isRoot ? [OTHER, OTHER] : [process.getuid?.(), process.getgid?.()]
  const owner = `user ${process.getuid?.()}, group ${process.getgid?.()}`
  const told = says()
  assert.match(
    told,
    new RegExp(`^IPC_ACCESS this client, user ${uid} with groups? ${gid}.*, may not use the service in`),
  )
  assert.ok(
    told.includes(`${here} has ${owner} and mode 0755, ${socket} has ${owner} and mode ${isRoot ? '0660' : '0000'}; `),
  )
  assert.ok(told.includes(`a group that they share: chgrp GROUP ${here}; chmod 1770 ${here}`), told)
  chmodSync(base, isRoot ? 0o700 : 0o600)
  assert.ok(says().includes(`${base} has ${owner} and mode ${isRoot ? '0700' : '0600'}; `), 'a folder above it')
  chmodSync(base, 0o755)
})
