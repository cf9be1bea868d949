// A file whose definition of a type holds code, copied as the documentation says: file to source.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createFiles,
  createSource,
  DtbDecoder,
  defineType,
  nested,
  openDtb,
  type RecordOf,
  type RecordType,
  readRecords,
  timestamp,
  value,
  viewsOf,
  wallNs,
} from '@sonde/sdk'
import { definitionOf } from '@sonde/sdk/internal'
import { canonicalJson } from '../../packages/sdk/src/schema/fingerprint.ts'
import { encodeFileHeader, encodeSourceBlock } from '../../packages/sdk/src/wire/dtb/encode.ts'
import { BLOCK_TYPE } from '../../packages/sdk/src/wire/dtb/format.ts'
import { dtbBlock } from '../../packages/sdk/test/dtb-sample.ts'
import { temporaryFolder } from './sonde-read.ts'

const WHO = { id: 'liar', tag: '', labels: {}, schema: '', host: '', pid: 0, version: '' }

const run = globalThis as { codeOfFileRan?: boolean }

/** A sound file of one record, but that its definition says `text` where `key` is a name of something. */
function crafted(t: TestContext, change: (definition: { fields: Record<string, unknown>[] }) => void): string {
  const inner = defineType('inner', 'Inside', { n: value('u32') })
  const type = defineType('outer', 'Outside', { time: timestamp(), inner: nested(inner) })
  const { layout } = type
  const definition = JSON.parse(JSON.stringify(definitionOf(type)))
  change(definition)
  const fingerprint = createHash('sha256').update(canonicalJson(definition)).digest('hex').slice(0, 32)
  const record = Buffer.alloc(layout.recordBytes)
  record.writeBigUInt64LE(wallNs(), 0)
  const path = join(temporaryFolder(t), 'crafted.bin')
  const types = Buffer.from(JSON.stringify([{ index: 0, fingerprint, definition }]))
  writeFileSync(
    path,
    Buffer.concat([
      encodeFileHeader({ fingerprint: '0'.repeat(32), createdUs: 0n, writerId: 1n }),
      dtbBlock(BLOCK_TYPE.types, types),
      encodeSourceBlock(WHO),
      dtbBlock(BLOCK_TYPE.records, record, { count: 1, recordBytes: record.length }),
    ]),
  )
  return path
}

/** Reports all records of a file through a source of its own. Gives how many, and why no more. */
async function copy(t: TestContext, path: string): Promise<{ copied: number; fault: string | undefined }> {
  const sink = createFiles({ dataRoot: temporaryFolder(t) })
  const source = createSource({ id: 'copy', emit: (batch) => sink.accept(batch) })
  const file = openDtb(path)
  const decoder = new DtbDecoder(file)
  let copied = 0
  let step = decoder.next()
  for (; step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    const { type, bytes, count, symbols } = step.batch
    for (const record of readRecords(type, viewsOf(bytes), count, symbols)) {
      source.report(type, record as RecordOf<RecordType>)
      copied++
    }
  }
  file.close()
  await source.close()
  await sink.close()
  return { copied, fault: step.end.fault?.message }
}

test('a file whose nested type is named like code does not run it in a program that copies its records', async (t) => {
  t.after(() => {
    delete run.codeOfFileRan
  })
  const code = "');}globalThis.codeOfFileRan=true;if(0){('"
  const path = crafted(t, ({ fields }) => Object.assign(fields[1] ?? {}, { type: code }))
  const { copied, fault = '' } = await copy(t, path)
  assert.equal(run.codeOfFileRan, undefined)
  assert.equal(copied, 0)
  assert.match(fault, /cannot name the record in field inner of type outer/)
})

test('a file whose texts for people look like code is copied, and runs nothing', async (t) => {
  const path = crafted(t, ({ fields }) => Object.assign(fields[1] ?? {}, { help: '*/globalThis.codeOfFileRan=true/*' }))
  assert.deepEqual(await copy(t, path), { copied: 1, fault: undefined })
  assert.equal(run.codeOfFileRan, undefined)
})
