package 'nano'
