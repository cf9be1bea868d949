import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, withoutSecrets } from '@sonde/sdk/config'
import { consoleSchema } from '../config.ts'

const faultsOf = (webhooks: object) => {
  const checked = check(consoleSchema, { webhooks }, 'console')
  return checked.ok ? [] : checked.issues.map(({ path, fault }) => `${path} ${fault}`)
}

test('receivers have names of files, are limited in number, and no message or print-out shows one', () => {
  assert.deepEqual(
    faultsOf({ receivers: { 'a.b-c_9': 'https://hooks.example/hunter2', lab: { url: 'x' }, none: '' } }),
    [],
  )
  for (const receivers of [
    { 'a b': 'https://hooks.example/hunter2' },
    { 'a\nb': 'https://hooks.example/hunter2' },
    { '': 'https://hooks.example/hunter2' },
    { a: ['https://hooks.example/hunter2'] },
    ['https://hooks.example/hunter2'],
    Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`r${index}`, 'https://hooks.example/hunter2'])),
  ]) {
    const faults = faultsOf({ receivers })
    assert.equal(faults.length, 1, JSON.stringify(receivers))
    assert.ok(!faults.join().includes('hunter2'), faults.join())
  }
  const printed = withoutSecrets(consoleSchema, { webhooks: { receivers: { a: 'hunter2', b: { url: 'hunter2' } } } })
  assert.deepEqual(printed, { webhooks: { receivers: { a: '(secret)', b: '(secret)' } } })
})

test('the header of a signature is no other header of a message', () => {
  for (const header of ['Convox-Signature', 'X-Hub-Signature-256', 'hosts']) {
    assert.deepEqual(faultsOf({ signature_header: header }), [], header)
  }
  for (const header of ['webhook-id', 'WEBHOOK-SIGNATURE', 'Content-Type', 'host', 'a: b', 'a\r\nb', ''])
    assert.equal(faultsOf({ signature_header: header }).length, 1, header)
})
