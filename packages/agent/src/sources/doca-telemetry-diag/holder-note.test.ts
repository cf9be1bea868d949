import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { commandOf, HolderNote } from './holder-note.ts'

const isRoot = process.getuid?.() === 0
/** A user that is neither this user nor root. */
const OTHER_UID = 65_534

/** The note of this process, in a folder of the test. */
function write(t: TestContext) {
  const { TMPDIR } = process.env
  const root = mkdtempSync(join(tmpdir(), 'sonde-note-'))
  process.env.TMPDIR = root
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    rmSync(root, { recursive: true })
  })
  const note = new HolderNote('0000:3a:00', '/opt/libdoca_telemetry.so.2')
  note.ask()
  const folder = join(root, 'sonde-devices')
  const [name = ''] = readdirSync(folder)
  return { note, folder, path: join(folder, name) }
}

test('a note names its process to processes with the same card and library, until it is removed', (t) => {
  const { note } = write(t)
  const holder = note.read()
  assert.deepEqual([holder?.pid, holder?.isOwn, holder?.isTrusted, holder?.isAsking], [process.pid, true, true, true])
  assert.ok(Math.abs(Date.now() - (holder?.sinceMs ?? 0)) < 60_000)
  assert.equal(new HolderNote('0000:3b:00', '/opt/libdoca_telemetry.so.2').read(), undefined)
  assert.equal(new HolderNote('0000:3a:00', '/usr/libdoca_telemetry.so.2').read(), undefined)
  note.remove()
  assert.equal(note.read(), undefined)
})

test('an invalid note, or a note of a process that has ended, names no process', (t) => {
  const { note, path } = write(t)
  const text = readFileSync(path, 'utf8')
  const [pid, start, sinceMs] = text.trim().split(' ')
  const forged = ['', 'x', `${pid} 1 ${sinceMs}`, `4194305 ${start} ${sinceMs}`, `${pid} ${start} -`, '9'.repeat(1000)]
  for (const planted of [...forged, `../../etc ${start} ${sinceMs}`]) {
    writeFileSync(path, planted)
    assert.equal(note.read(), undefined, planted.slice(0, 40))
  }
  rmSync(path)
  execFileSync('mkfifo', [path])
  assert.equal(note.read(), undefined, 'nobody is waited for')
  rmSync(path)
  const elsewhere = `${path}-elsewhere`
  writeFileSync(elsewhere, text)
  symlinkSync(elsewhere, path)
  assert.equal(note.read(), undefined, 'no link is followed')
})

test('another user can neither ask for the counters nor write a note for this process', { skip: !isRoot }, (t) => {
  const { note, folder, path } = write(t)
  chownSync(path, OTHER_UID, OTHER_UID)
  assert.equal(note.read(), undefined, 'this process belongs to another user')
  const child = spawn('sleep', ['60'], { uid: OTHER_UID })
  t.after(() => child.kill('SIGKILL'))
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(path, `${child.pid} ${start} 1`)
  chmodSync(path, 0o644)
  assert.deepEqual(note.read(), { pid: child.pid, sinceMs: 1, isOwn: false, isTrusted: false, isAsking: false })
  chownSync(path, 0, 0)
  chownSync(folder, OTHER_UID, OTHER_UID)
  assert.equal(note.read(), undefined, 'the folder is of another user')
})

test('a program is named as a person starts it, without its arguments', (t) => {
  const { folder } = write(t)
  const script = join(folder, 'sonde.mjs')
  writeFileSync(script, 'process.stdin.resume()')
  const child = spawn(process.execPath, ['--no-warnings', script, 'traceback', '--token', 'secret'], { stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  assert.equal(commandOf(Number(child.pid)), 'sonde traceback')
  assert.equal(commandOf(4_194_305), 'Sonde', 'there is no such process')
})
