import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('json-c.c', import.meta.url))

/**
 * What json-c of Debian says of texts, each byte a character; see `json-c.c`. Compiles its program, which needs `cc`
 * and `json-c`.
 */
export function askJsonC(texts: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-json-c-'))
  try {
    const program = join(folder, 'json-c')
    execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', '-o', program, SOURCE, '-ljson-c'])
    const input = Buffer.concat(texts.flatMap((text) => [lengthOf(text), Buffer.from(text, 'latin1')]))
    const output = execFileSync(program, { input, maxBuffer: 1024 * 1024 * 1024 })
    const answers: string[] = []
    for (let at = 0; at < output.length; ) {
      const length = output.readUInt32LE(at)
      answers.push(output.toString('latin1', at + 4, at + 4 + length))
      at += 4 + length
    }
    return answers
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function lengthOf(text: string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(text.length)
  return bytes
}
