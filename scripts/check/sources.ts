// The repository's own files, and what each imports.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..')

/** One `import` or `export … from`, static or dynamic. */
export interface Import {
  specifier: string
  line: number
}

/** One file of source, with its path from the root. */
export interface SourceFile {
  path: string
  text: string
  imports: Import[]
}

/** Paths from the root of the files that match a pattern, without what is installed or built. */
export function filesOf(pattern: string): string[] {
  const exclude = (path: string) => /(^|\/)(node_modules|dist|\.git|\.cache)(\/|$)/.test(path)
  return globSync(pattern, { cwd: root, exclude }).sort()
}

/** Every TypeScript file of the packages. */
export function packageSources(): SourceFile[] {
  return filesOf('packages/**/*.{ts,tsx}').map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')))
}

/** A file and what it imports. */
export function sourceFile(path: string, text: string): SourceFile {
  const statement = /^\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm
  const imports = [...text.matchAll(statement)].map((match) => ({
    specifier: match[1] ?? match[2] ?? '',
    line: text.slice(0, match.index + match[0].length).split('\n').length,
  }))
  return { path, text, imports }
}

/** The path from the root that a relative import means; a package's name is left as it is. */
export function resolveImport(file: SourceFile, specifier: string): string {
  return specifier.startsWith('.') ? relative('.', join(dirname(file.path), specifier)) : specifier
}

/** The package, with its part where it has two, and the room in it that a path from the root is in. */
export function roomOf(path: string): { readonly group: string; readonly room: string } | undefined {
  const match = /^packages\/([^/]+)\/(src|server|web)\/([^/]+)/.exec(path)
  if (match === null) return undefined
  const [, name = '', part = '', room = ''] = match
  return { group: part === 'src' ? name : `${name}/${part}`, room: room.replace(/\.tsx?$/, '') }
}
