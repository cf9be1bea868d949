import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sondeError } from '../../../sdk/test/helper.ts'
import { Secrets } from './secrets.ts'

const NEW = { client: 0n, secret: '' }

function folder(t: TestContext): { dir: string; key: string } {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-key-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return { dir, key: join(dir, 'service.key') }
}

function secretsIn(dir: string): Secrets {
  const secrets = new Secrets()
  secrets.keepIn(dir)
  return secrets
}

test('each new client gets an id and a secret of its own, and is known by both together only', (t) => {
  const secrets = secretsIn(folder(t).dir)
  const [a, b] = [secrets.identify(NEW), secrets.identify(NEW)]
  assert.notEqual(a.client, b.client)
  assert.deepEqual(secrets.identify(a), a)
  assert.throws(() => secrets.identify({ client: a.client, secret: b.secret }), sondeError('IPC_SECRET'))
  assert.throws(() => secrets.identify({ client: a.client, secret: '' }), sondeError('IPC_SECRET'))
})

test('a service that comes after knows the clients of its folder, and a service of another folder does not', (t) => {
  const [here, there] = [folder(t), folder(t)]
  const identity = secretsIn(here.dir).identify(NEW)
  assert.deepEqual(secretsIn(here.dir).identify(identity), identity)
  assert.throws(() => secretsIn(there.dir).identify(identity), sondeError('IPC_SECRET'))
})

test('a key that is lost while the service runs is left again, and its clients stay known', (t) => {
  const { dir, key } = folder(t)
  const secrets = secretsIn(dir)
  const identity = secrets.identify(NEW)
  unlinkSync(key)
  secrets.keepIn(dir)
  assert.deepEqual(secretsIn(dir).identify(identity), identity)
})

test('a key that somebody else could know, a link, and half a key are replaced', (t) => {
  const { dir, key } = folder(t)
  const elsewhere = join(dir, 'elsewhere')
  const known = Buffer.alloc(32, 7)
  writeFileSync(elsewhere, known, { mode: 0o600 })
  const made: readonly (() => void)[] = [
    () => symlinkSync(elsewhere, key),
    () => writeFileSync(key, known.subarray(0, 31), { mode: 0o600 }),
    () => {
      writeFileSync(key, known)
      chmodSync(key, 0o640)
    },
  ]
  for (const make of made) {
    rmSync(key, { force: true })
    make()
    secretsIn(dir)
    assert.deepEqual([statSync(key).mode & 0o777, statSync(key).size], [0o600, 32])
    assert.notDeepEqual(readFileSync(key), known)
  }
  assert.deepEqual(readFileSync(elsewhere), known)
})
