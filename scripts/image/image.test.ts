import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkArch } from './elf.ts'
import { Layout } from './layout.ts'
import { spdxDocument } from './sbom.ts'

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-image-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A layout of one layer, from files that were written in an order, at a time, with a mode. */
function digestOf(t: TestContext, names: readonly string[], seconds: number, mode: number): string {
  const folder = temporary(t)
  for (const name of names) {
    mkdirSync(join(folder, 'files/usr'), { recursive: true })
    const path = join(folder, 'files/usr', name)
    writeFileSync(path, name)
    chmodSync(path, mode)
    utimesSync(path, seconds, seconds)
  }
  const layout = new Layout(join(folder, 'layout'), join(folder, 'kept'))
  const files = { folder: join(folder, 'files'), paths: ['usr'], owner: 65_532, mode: 'u=rwX,go=rX' }
  const layer = layout.addLayer([files])
  const image = layout.addImage('amd64', { created: '1970-01-01T00:00:00Z' }, [layer], {})
  const digest = layout.close({ amd64: image }, 'test:1', {})
  layout.archive(join(folder, 'layout.tar'))
  assert.ok(readFileSync(join(folder, 'layout.tar')).includes(digest.slice('sha256:'.length)))
  return digest
}

test('equal files make one digest, whoever wrote them and when', (t) => {
  assert.equal(digestOf(t, ['b', 'a'], 1_700_000_000, 0o600), digestOf(t, ['a', 'b'], 1, 0o644))
  assert.notEqual(digestOf(t, ['a'], 1, 0o644), digestOf(t, ['a'], 1, 0o755), 'a program stays a program')
})

test('a binary of another architecture is refused by its path', (t) => {
  const folder = temporary(t)
  const head = Buffer.alloc(64)
  head.writeUInt32BE(0x7f454c46)
  head.writeUInt16LE(183, 18)
  writeFileSync(join(folder, 'node'), head)
  writeFileSync(join(folder, 'main.js'), '#!/usr/bin/node')
  assert.equal(checkArch(folder, 'arm64'), 1)
  assert.throws(() => checkArch(folder, 'amd64'), /^Error: node has the ELF machine 183, not amd64$/)
})

test('the list of parts has what SPDX 2.3 requires, and says nothing that is not known', () => {
  const described = { name: 'sonde', version: '1.2.3', arch: 'arm64', created: '2026-11-30T00:00:00Z' }
  const checksum = { algorithm: 'SHA256', value: 'ab' } as const
  const document = spdxDocument(described, [
    { kind: 'deb', name: 'libstdc++6', version: '12.2.0-14', checksum },
    { kind: 'npm', name: '@sonde/sdk', version: '0.1.0', license: 'Apache-2.0' },
  ])
  assert.equal(document.spdxVersion, 'SPDX-2.3')
  assert.equal(document.dataLicense, 'CC0-1.0')
  assert.match(document.documentNamespace, /^https:\/\/[^#]+$/)
  const [library, sdk] = document.packages
  assert.equal(library?.externalRefs[0]?.referenceLocator, 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=arm64')
  assert.deepEqual([library?.licenseDeclared, library?.checksums?.[0]?.checksumValue], ['NOASSERTION', 'ab'])
  assert.equal(sdk?.externalRefs[0]?.referenceLocator, 'pkg:npm/%40sonde/sdk@0.1.0')
  assert.deepEqual([sdk?.licenseDeclared, sdk?.checksums], ['Apache-2.0', undefined])
  assert.equal(new Set(document.packages.map(({ SPDXID }) => SPDXID)).size, 2)
  for (const { relatedSpdxElement } of document.relationships) assert.match(relatedSpdxElement, /^SPDXRef-[12]$/)
})
