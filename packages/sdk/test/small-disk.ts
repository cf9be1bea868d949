import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A file system of its own with so many KiB, until the test ends; undefined if this user cannot mount. */
export function smallDisk(t: TestContext, kib: number): string | undefined {
  if (process.getuid?.() !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sonde-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k,mode=700`, 'none', folder], { stdio: 'ignore' })
  } catch {
    rmdirSync(folder)
    return undefined
  }
  t.after(() => {
    execFileSync('umount', ['-l', folder])
    rmdirSync(folder)
  })
  return folder
}

/** Fills the disk of a path to the last byte. */
export function fillDisk(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (let bytes = 1 << 20; bytes >= 1; ) {
      try {
        writeSync(file, new Uint8Array(bytes))
      } catch {
        bytes >>= 1
      }
    }
  } finally {
    closeSync(file)
  }
}
