import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { Webhook } from 'standardwebhooks'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { readReceivers } from './receivers.ts'
import { readSigningKeys, signatureHeaders } from './signatures.ts'
import { convoxKeys, standardKeys } from './signing-keys.ts'

const random = new Random(SEED)

const secretOf = (bytes: number) => `whsec_${random.bytes(bytes).toString('base64')}`
const keyOf = (bytes: number) => random.bytes(bytes).toString('hex')
const MESSAGE = { id: 'msg_1', timestampS: Math.floor(Date.now() / 1000), body: '{"type":"hint.opened","ü":"ü"}' }

function isKeysFault(secret: string) {
  return (error: unknown) => {
    assert.ok(error instanceof SondeError && error.code === 'WHK_KEYS', String(error))
    const [shown = ''] = secret.split(',')
    assert.ok(shown.length < 8 || !error.message.includes(shown), error.message)
    return true
  }
}

describe('a Standard Webhooks signature:', () => {
  test('the library verifies it with the old and the new secret, and with no other', () => {
    const secrets = [secretOf(24), secretOf(64), secretOf(32)]
    const keys = { standard: standardKeys(secrets.join(', ')), convox: [] }
    const headers = signatureHeaders(keys, MESSAGE, 'Convox-Signature')
    for (const secret of secrets) assert.ok(new Webhook(secret).verify(MESSAGE.body, headers))
    assert.throws(() => new Webhook(secretOf(32)).verify(MESSAGE.body, headers))
    assert.throws(() => new Webhook(secrets[0] ?? '').verify(`${MESSAGE.body} `, headers))
    assert.throws(() => new Webhook(secrets[0] ?? '').verify(MESSAGE.body, { ...headers, 'webhook-id': 'msg_2' }))
    assert.equal(headers['Convox-Signature'], undefined)
  })

  const wrong: Readonly<Record<string, string>> = {
    'too short': secretOf(23),
    'too long': secretOf(65),
    'without prefix': random.bytes(32).toString('base64'),
    'of another kind': `whsk_${random.bytes(32).toString('base64')}`,
    'not base64': `whsec_${'*'.repeat(44)}`,
    'cut off in the middle of a byte': `whsec_${'A'.repeat(41)}`,
    'the same byte': `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    'a word that repeats': `whsec_${Buffer.from('changeme'.repeat(4)).toString('base64')}`,
    empty: '',
    'an empty one behind a comma': `${secretOf(32)},`,
    'five of them': Array.from({ length: 5 }, () => secretOf(32)).join(),
  }
  for (const [name, secret] of Object.entries(wrong))
    test(`refused: ${name}`, () => assert.throws(() => standardKeys(secret), isKeysFault(secret)))
})

describe('a Convox-Signature:', () => {
  test('it is an HMAC with the decoded bytes of each key over time and body', () => {
    const keys = [keyOf(32), keyOf(2048)]
    const headers = signatureHeaders({ standard: [], convox: convoxKeys(keys.join()) }, MESSAGE, 'X-Signature')
    const hmac = (key: string) =>
      createHmac('sha256', Buffer.from(key, 'hex')).update(`${MESSAGE.timestampS}.${MESSAGE.body}`).digest('hex')
    assert.equal(headers['X-Signature'], `t=${MESSAGE.timestampS},v1=${hmac(keys[0] ?? '')},v1=${hmac(keys[1] ?? '')}`)
    assert.equal(headers['webhook-signature'], undefined)
  })

  const wrong: Readonly<Record<string, string>> = {
    'odd length': `${keyOf(32)}a`,
    'too short': keyOf(31),
    'too long': keyOf(2049),
    uppercase: keyOf(32).replace(/^../, 'AB'),
    'not hexadecimal': `${keyOf(31)}zz`,
    'all 0': '0'.repeat(64),
    'all 1': '1'.repeat(64),
    'all f': 'f'.repeat(64),
    deadbeef: 'deadbeef'.repeat(8),
    'digits in sequence': '0123456789'.repeat(7),
    'hexadecimal digits in sequence': '0123456789abcdef'.repeat(4),
    'little entropy': '00112233445566778899'.repeat(4),
    'a bad one behind a good one': `${keyOf(32)},${'0'.repeat(64)}`,
    'five of them': Array.from({ length: 5 }, () => keyOf(32)).join(),
  }
  for (const [name, key] of Object.entries(wrong))
    test(`refused: ${name}`, () => assert.throws(() => convoxKeys(key), isKeysFault(key)))
})

test('keys come from a file that is read anew, or from a variable, and a receiver may have its own', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-test-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const [secretFile, signingKeyFile] = [join(dir, 'secret'), join(dir, 'keys')]
  const [first, second, own] = [secretOf(32), secretOf(32), secretOf(32)]
  writeFileSync(secretFile, `${first}\n`)
  writeFileSync(signingKeyFile, `${keyOf(32)}\n`)
  process.env.SONDE_TEST_WEBHOOK_SECRET = own
  t.after(() => {
    delete process.env.SONDE_TEST_WEBHOOK_SECRET
  })
  const [plain, special] = readReceivers({
    plain: 'http://127.0.0.1/',
    special: { url: 'http://127.0.0.1/', secret_env: 'SONDE_TEST_WEBHOOK_SECRET' },
  }).receivers
  assert.ok(plain && special)
  const options = { secretFile, signingKeyFile, signatureHeader: 'Convox-Signature' }
  const secrets = (receiver: typeof plain) =>
    readSigningKeys(options, receiver).standard.map((key) => `whsec_${key.toString('base64')}`)
  assert.deepEqual(secrets(plain), [first])
  assert.deepEqual(secrets(special), [own])
  assert.equal(readSigningKeys(options, special).convox.length, 1)
  writeFileSync(secretFile, `${second},${first}\n`)
  assert.deepEqual(secrets(plain), [second, first])
  rmSync(secretFile)
  assert.throws(() => secrets(plain), isKeysFault(first))
  assert.deepEqual(readSigningKeys({ signatureHeader: 'x' }, plain), { standard: [], convox: [] })
})
