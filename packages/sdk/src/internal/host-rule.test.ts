import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsHost, hostRule } from './host-rule.ts'

function allows(listenHost: string, header: string | undefined, allowedHosts: string[] = []): boolean {
  return allowsHost(hostRule(listenHost, 'gpu17.example.com', allowedHosts), header)
}

test('on loopback only names of loopback are answered', () => {
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    for (const header of [
      'localhost',
      'localhost:9394',
      'LOCALHOST',
      '127.0.0.1:9394',
      '127.8.8.8',
      '[::1]:9394',
      'sonde.localhost',
      'localhost.',
    ])
      assert.ok(allows(host, header), `${header} on ${host}`)
    for (const header of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.5',
      '[2001:db8::1]',
      'gpu17',
      'notlocalhost',
    ])
      assert.ok(!allows(host, header), `${header} on ${host}`)
  }
})

test('beyond loopback any address is answered, and the names of this machine', () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.5']) {
    for (const header of [
      '10.0.0.5:9394',
      '[2001:db8::1]:9394',
      'localhost',
      'gpu17',
      'gpu17.example.com:9394',
      'GPU17',
    ])
      assert.ok(allows(host, header), `${header} on ${host}`)
    for (const header of ['evil.example', 'gpu17.evil.example', 'example.com', 'gpu18'])
      assert.ok(!allows(host, header), `${header} on ${host}`)
  }
  assert.ok(allows('node.internal', 'node.internal:9394'), 'the name that it listens on')
})

test('names that the configuration allows are answered: exact, below a domain, or all', () => {
  assert.ok(allows('127.0.0.1', 'sonde.example.com', ['sonde.example.com']))
  assert.ok(allows('127.0.0.1', 'SONDE.example.com:443', ['Sonde.Example.com']))
  assert.ok(!allows('127.0.0.1', 'a.sonde.example.com', ['sonde.example.com']))
  assert.ok(allows('127.0.0.1', 'a.b.example.com', ['*.example.com']))
  assert.ok(!allows('127.0.0.1', 'example.com', ['*.example.com']))
  assert.ok(!allows('127.0.0.1', '.example.com', ['*.example.com']))
  assert.ok(!allows('127.0.0.1', 'evilexample.com', ['*.example.com']))
  assert.ok(allows('127.0.0.1', 'anything', ['*']))
})

test('without a Host there is no browser; one that is no host at all is refused', () => {
  assert.ok(allows('127.0.0.1', undefined))
  for (const header of ['localhost:9394:1', '[::1', 'localhost:port', 'a@localhost', 'localhost/x'])
    assert.ok(!allows('127.0.0.1', header), header)
})
