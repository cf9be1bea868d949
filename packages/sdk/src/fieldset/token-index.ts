import type { Token } from './tokens.ts'

/** A branch of tokens with a common prefix: by their next character, or a short list to compare. */
interface Branch {
  few: readonly Token[]
  next: ReadonlyMap<string, Branch>
}

/** Limit of a list of tokens; more tokens get branches. */
const FEW = 4
/** The deepest branch. Common prefixes of tokens are shorter. */
const DEPTH_LIMIT = 64

/** Finds the tokens that a name contains, in one pass over the name for any number of tokens. */
export class TokenIndex {
  readonly #root: Branch
  /** One object for all equal tokens. */
  readonly #same = new Map<string, Token>()

  constructor(tokens: Iterable<Token>) {
    for (const token of tokens) if (!this.#same.has(tokenKey(token))) this.#same.set(tokenKey(token), token)
    this.#root = branchesOf([...this.#same.values()])
  }

  /** The shared object of a token, as `tokensOf` returns it. */
  same(token: Token): Token {
    return this.#same.get(tokenKey(token)) ?? token
  }

  /** The tokens that a name contains. */
  tokensOf(name: string): ReadonlySet<Token> {
    const found = new Set<Token>()
    for (let from = 0; from <= name.length; from++) {
      let at = from
      for (let branch: Branch | undefined = this.#root; branch !== undefined; at++) {
        for (const token of branch.few) if (stands(token, name, from)) found.add(token)
        branch = branch.next.get(name[at] ?? '')
      }
    }
    return found
  }
}

function stands({ text, begins, ends }: Token, name: string, from: number): boolean {
  if (begins && from > 0) return false
  return (!ends || from + text.length === name.length) && name.startsWith(text, from)
}

function branchesOf(tokens: readonly Token[]): Branch {
  const root: Branch = { few: tokens, next: new Map() }
  let level = [root]
  for (let depth = 0; depth < DEPTH_LIMIT && level.length > 0; depth++) {
    const crowded = level.filter(({ few }) => few.length > FEW)
    level = crowded.flatMap((branch) => {
      const longer = Map.groupBy(branch.few, ({ text }) => text[depth] ?? '')
      branch.few = longer.get('') ?? []
      longer.delete('')
      branch.next = new Map(Array.from(longer, ([character, few]) => [character, { few, next: new Map() }]))
      return [...branch.next.values()]
    })
  }
  return root
}

function tokenKey({ text, begins, ends }: Token): string {
  return `${begins ? '^' : ' '}${ends ? '$' : ' '}${text}`
}
