// Whether every relative link in a Markdown file leads to a file, and every anchor to a heading.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Every broken link of the Markdown files, as `file:line: what is wrong`. */
export function findBrokenLinks(files: readonly string[], folder: string): string[] {
  return files.flatMap((file) =>
    linksOf(readFileSync(join(folder, file), 'utf8')).flatMap(({ target, line }) => {
      const fault = faultOf(target, file, folder)
      return fault === undefined ? [] : [`${file}:${line}: ${target}: ${fault}`]
    }),
  )
}

function faultOf(target: string, file: string, folder: string): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) return undefined
  const [path = '', anchor] = target.split('#')
  const from = path.startsWith('/') ? folder : join(folder, dirname(file))
  if (isOutsidePackage(file, path)) return 'a package is installed without what is beside it; name the page instead'
  const full = path === '' ? join(folder, file) : join(from, decodeURI(path))
  if (!existsSync(full)) return `there is no ${relative(folder, full)}`
  if (anchor === undefined || !full.endsWith('.md') || !statSync(full).isFile()) return undefined
  return anchorsOf(readFileSync(full, 'utf8')).has(anchor) ? undefined : `no heading gives the anchor #${anchor}`
}

/** Whether a link of the README that is published with a package leads out of the package. */
function isOutsidePackage(file: string, path: string): boolean {
  return /^packages\/[^/]+\/README\.md$/.test(file) && path.startsWith('../')
}

function linksOf(text: string): { target: string; line: number }[] {
  return proseOf(text).flatMap((line, index) =>
    [
      ...line.matchAll(
        /\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)|<(?:img|a)\b[^>]*?(?:src|href)="([^"]+)"/g,
      ),
    ].map((match) => ({ target: match[1] ?? match[2] ?? match[3] ?? '', line: index + 1 })),
  )
}

/** The anchors that GitHub gives the headings of a page, and those set by hand. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const line of proseOf(text, { keepCode: true })) {
    for (const [, id = ''] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id)
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1]
    if (heading === undefined) continue
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-')
    let unique = slug
    for (let count = 1; anchors.has(unique); count += 1) unique = `${slug}-${count}`
    anchors.add(unique)
  }
  return anchors
}

/** The lines of a page; those inside code fences are empty, and inline code is cut out unless kept. */
function proseOf(text: string, { keepCode = false } = {}): string[] {
  let fence: string | undefined
  return text.split('\n').map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined
      return ''
    }
    if (mark !== undefined) {
      fence = mark
      return ''
    }
    return keepCode ? line : line.replace(/(`+)(?:(?!\1).)*\1/g, '')
  })
}
