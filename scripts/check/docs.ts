// Whether everything that a package exports says what it is.

import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { API, type Project, SymbolFlags } from 'typescript/unstable/sync'

/** Every exported symbol without a documentation comment, as `package: name (file)`. */
export function findUndocumented(folder: string): string[] {
  const api = new API({ cwd: folder })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] })
    const [project] = snapshot.getProjects()
    if (project === undefined) throw new Error('tsconfig.json opens no project')
    return ['sdk', 'agent', 'console'].flatMap((name) =>
      entriesOf(join(folder, 'packages', name)).flatMap((entry) => undocumentedIn(project, entry, folder)),
    )
  } finally {
    api.close()
  }
}

/** The source files behind a package's `exports`. */
function entriesOf(packageFolder: string): string[] {
  const manifest: { exports?: Record<string, { source?: string }> } = JSON.parse(
    readFileSync(join(packageFolder, 'package.json'), 'utf8'),
  )
  return Object.values(manifest.exports ?? {})
    .flatMap(({ source }) => (source?.endsWith('.ts') ? [join(packageFolder, source)] : []))
    .filter((file) => existsSync(file))
}

function undocumentedIn(project: Project, entry: string, folder: string): string[] {
  const { checker } = project
  const file = project.program.getSourceFile(entry)
  const module = file && checker.getSymbolAtLocation(file)
  if (module === undefined) return []
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    const isOurs = symbol.declarations.some((declaration) => !declaration.path.includes('/node_modules/'))
    if (!isOurs || symbol.getDocumentationComment(checker) || symbol.getJsDocTags(checker).length > 0) return []
    const places = [...new Set(symbol.declarations.map(({ path }) => relative(folder, path)))]
    return [`${relative(folder, entry)}: ${exported.name} has no documentation (${places.join(', ')})`]
  })
}
