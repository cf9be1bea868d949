import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SondeError } from '../errors.ts'
import { readGivenFile } from './given-file.ts'
import { readBytes } from './read-bytes.ts'
import { readTextFile, readTextFileNow, type TextFile } from './text-file.ts'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-text-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const fileAt = (path: string, limitBytes = 8): TextFile => ({
  path,
  limitBytes,
  fault: (kind, why) => new SondeError('TST_FILE', `${kind}: it ${why}`),
})

/** Both ways of reading answer alike: the text, or the message of the error. */
async function readBoth(file: TextFile): Promise<string> {
  const messageOf = ({ message }: Error) => message
  const waited = await readTextFile(file).catch(messageOf)
  let now: string
  try {
    now = readTextFileNow(file)
  } catch (error) {
    now = messageOf(error as Error)
  }
  assert.equal(now, waited)
  return now
}

test('a text of as many bytes as are allowed is read, and of one more refused', async (t) => {
  const path = join(folder(t), 'text')
  for (const text of ['', 'a', '12345678']) {
    writeFileSync(path, text)
    assert.equal(await readBoth(fileAt(path)), text)
  }
  writeFileSync(path, '123456789')
  assert.equal(await readBoth(fileAt(path)), 'limit: it is larger than 8 bytes')
  assert.equal(readGivenFile(path, 8), undefined)
  assert.equal(readGivenFile(path, 9)?.toString(), '123456789')
})

test('a file of the kernel that says it is empty, and hardly ends, is too large; a device is no file', async (t) => {
  const path = join(folder(t), 'link')
  symlinkSync('/proc/self/pagemap', path)
  assert.equal(await readBoth(fileAt(path, 1 << 20)), 'limit: it is larger than 1048576 bytes')
  assert.match(await readBoth({ ...fileAt(path), isLinkRefused: true }), /^read: it cannot be read: ELOOP/)
  assert.equal(await readBoth(fileAt('/dev/zero')), 'read: it is no regular file')
  assert.equal(readGivenFile('/dev/zero', 8), undefined)
})

test('of a file without an end that gives little at a time, a page beyond the limit is read at most', async () => {
  let givenBytes = 0
  const read = (_buffer: Buffer, _at: number, wanted: number) => {
    const bytesRead = Math.min(7, wanted)
    givenBytes += bytesRead
    return Promise.resolve({ bytesRead })
  }
  assert.equal(await readBytes({ read } as unknown as FileHandle, 100), undefined)
  assert.ok(givenBytes > 100 && givenBytes <= 4096, `${givenBytes} bytes`)
})
