/** A part of a template: text that is copied, or an action between `{{` and `}}`. */
export type TemplatePart = { readonly text: string } | { readonly action: string }

/** A word of an action. */
export interface ActionWord {
  readonly kind: 'text' | 'number' | 'name' | 'variable' | 'field' | 'mark'
  readonly value: string
  /** Whether it follows the token before it without a blank, as the field in `(list 1).first`. */
  readonly isGlued: boolean
}

const ACTION = /\{\{(- )?(?:\/\*[\s\S]*?\*\/|((?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^"`])*?))( -)?\}\}/g
const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*"|`[^`]*`)|(-?\d+(?:\.\d+)?)|(\$\w*(?:\.\w+)*)|((?:\.\w+)+|\.(?!\w))|(\w+)|(:=|[=|(),]))/y

/** The parts of a template. `{{-` removes blanks before, `-}}` after; comments are removed. */
export function templateParts(template: string): TemplatePart[] {
  const pieces: TemplatePart[] = []
  let from = 0
  let trimsNext = false
  const addText = (text: string, trimsEnd: boolean) => {
    const start = trimsNext ? text.trimStart() : text
    const kept = trimsEnd ? start.trimEnd() : start
    if (kept !== '') pieces.push({ text: kept })
  }
  // A blank stands between the mark that trims and the action, so that `-1` stays a number.
  for (const match of template.matchAll(ACTION)) {
    const [whole, trimsBefore, action, trimsAfter] = match
    addText(template.slice(from, match.index), trimsBefore !== undefined)
    if (action !== undefined) pieces.push({ action: action.trim() })
    trimsNext = trimsAfter !== undefined
    from = match.index + whole.length
  }
  addText(template.slice(from), false)
  return pieces
}

/** The words of an action. */
export function wordsOf(action: string): ActionWord[] {
  const tokens: ActionWord[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < action.length) {
    const start = TOKEN.lastIndex
    const match = TOKEN.exec(action)
    if (match === null)
      throw new Error(`the action ${JSON.stringify(action)} is not understood after ${start} characters`)
    const [whole, text, number, variable, field, name, mark] = match
    const isGlued = start > 0 && !/^\s/.test(whole)
    const of = (kind: ActionWord['kind'], value: string) => tokens.push({ kind, value, isGlued })
    if (text !== undefined) of('text', text.startsWith('"') ? JSON.parse(text) : text.slice(1, -1))
    else if (number !== undefined) of('number', number)
    else if (variable !== undefined) of('variable', variable)
    else if (field !== undefined) of('field', field)
    else if (name !== undefined) of('name', name)
    else of('mark', mark ?? '')
  }
  return tokens
}
