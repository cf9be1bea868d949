import { type Document, isPair, isScalar, Lexer, Parser, visit, type YAMLError, type YAMLMap } from 'yaml'
import { yamlPath } from './yaml-path.ts'

/**
 * Depth of nested blocks and lists. No setting is deeper than 4, and the YAML parser recurses once for each level.
 */
const DEPTH_LIMIT = 32

/** A fault of the YAML text itself, found before any setting is read. */
export interface YamlFault {
  /** Position in the text. Unit: characters. */
  readonly offset: number
  /** A sentence that describes the fault and the allowed form. */
  readonly words: string
}

/** Fault and allowed form, by the error code of the parser. */
const WORDS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: 'has an alias or anchor without a sound name; allowed: &name before, *name after',
  BAD_DIRECTIVE: 'starts with %, and is no directive; allowed: text with % in quotes',
  BAD_DQ_ESCAPE: 'has an escape that is not known; allowed: \\n, \\t, \\", \\\\, or single quotes',
  BAD_INDENT:
    'is not indented as what it belongs to, or a [ or { is not closed; allowed: the same spaces for all keys of a block',
  BAD_SCALAR_START: 'starts with a character that means something else in YAML; allowed: such text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'has a second key; allowed: one key a line, or text with ": " in quotes',
  BLOCK_IN_FLOW: 'has a block between [ ] or { }; allowed: lists as [a, b] and blocks as {a: b} there',
  KEY_OVER_1024_CHARS: 'has a key of over 1024 characters; allowed: the keys of the configuration',
  MISSING_CHAR: 'lacks a quote, bracket, comma, colon or space; allowed: quotes and brackets in pairs, "key: value"',
  MULTILINE_IMPLICIT_KEY: 'is no key, as it goes over several lines; allowed: "key: value"',
  MULTIPLE_DOCS: 'begins a second document; allowed: one document a file',
  RESOURCE_EXHAUSTION: 'is nested too deep; allowed: the keys of the configuration',
  TAB_AS_INDENT: 'is indented with a tab; allowed: spaces',
  TAG_RESOLVE_FAILED: 'has a tag that is not known; allowed: values without tags',
}

/**
 * The first position where blocks and lists are nested too deep. It is searched before the whole text is parsed.
 */
export function depthFault(text: string): YamlFault | undefined {
  const parser = new Parser()
  let offset = 0
  for (const lexeme of new Lexer().lex(text)) {
    // The parser reads the tokens again later, with their meaning.
    for (const _token of parser.next(lexeme));
    // The document itself is not a level.
    if (parser.stack.length > DEPTH_LIMIT + 1)
      return { offset, words: `the line is nested too deep; allowed: ${DEPTH_LIMIT} levels` }
    offset = parser.offset
  }
  return undefined
}

/**
 * Errors of the parser, at most one for each line, because one fault often causes others. No text of the file is shown:
 * a file that is no YAML may be any file, even one that only root may read.
 */
export function syntaxFaults(text: string, { errors, warnings }: Document): YamlFault[] {
  const seen = new Set<number>()
  return [...errors, ...warnings].flatMap(({ code, pos: [offset] }) => {
    const line = lineStart(text, offset)
    if (seen.has(line)) return []
    seen.add(line)
    return [{ offset, words: `the line ${WORDS[code] ?? 'is no YAML; allowed: "key: value" lines'}` }]
  })
}

/** Duplicate keys, and aliases without an anchor, in otherwise valid YAML. */
export function referenceFaults(document: Document): YamlFault[] {
  const faults: YamlFault[] = []
  visit(document, {
    Map(_key, map, ancestors) {
      faults.push(...repeatedKeys(map, ancestors))
    },
    Alias(_key, alias, ancestors) {
      if (alias.resolve(document) !== undefined) return
      const path = yamlPath([...ancestors, alias])
      const words = `${path} is *${alias.source}; allowed: the name of an anchor before it, or the value itself`
      faults.push({ offset: alias.range?.[0] ?? 0, words })
    },
  })
  return faults
}

function repeatedKeys(map: YAMLMap, ancestors: readonly unknown[]): YamlFault[] {
  const seen = new Set<unknown>()
  return map.items.flatMap((pair) => {
    if (!isPair(pair) || !isScalar(pair.key)) return []
    const isRepeated = seen.has(pair.key.value)
    seen.add(pair.key.value)
    if (!isRepeated) return []
    const path = yamlPath([...ancestors, map, pair])
    const words = `${path} is there a second time; allowed: every key once`
    return [{ offset: pair.key.range?.[0] ?? 0, words }]
  })
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}
