// The peer comes without types. Values are texts.
declare module 'parse-prometheus-text-format' {
  export default function parse(text: string): { readonly metrics: readonly { readonly value?: string }[] }[]
}
